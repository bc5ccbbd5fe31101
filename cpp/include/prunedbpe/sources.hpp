// Which sources of a corpus its chunks occur in, and what an amount divided by source is worth.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace prunedbpe {

/// Chunk i occurs counts[j] times in sources[j], for j in [offsets[i], offsets[i + 1]).
struct SourcesView {
    std::span<const std::int64_t> offsets;
    std::span<const std::uint32_t> sources;
    std::span<const std::int64_t> counts;
    std::size_t source_count;

    /// Throws std::invalid_argument unless the arrays fit together and describe this many chunks.
    void check(std::size_t chunk_count) const;

    /// Calls use(source, count) for every source of a chunk.
    template <class Use>
    void for_each(std::size_t chunk, Use&& use) const {
        const auto end = static_cast<std::size_t>(offsets[chunk + 1]);
        for (auto j = static_cast<std::size_t>(offsets[chunk]); j < end; ++j) use(sources[j], counts[j]);
    }
};

/// What an amount of tokens is worth, if it is divided into amounts a_s by source: the sum of weight_s * a_s ^ exponent.
/// An exponent below 1 prefers what many sources share to what one source repeats.
struct SourceValue {
    std::span<const double> weights;
    double exponent;

    /// What amounts by source are worth.
    template <class Amount>
    double operator()(std::span<const Amount> amounts) const {
        double worth = 0;
        for (std::size_t s = 0; s < amounts.size(); ++s) {
            if (amounts[s] != 0) worth += weights[s] * std::pow(static_cast<double>(amounts[s]), exponent);
        }
        return worth;
    }
};

}  // namespace prunedbpe
