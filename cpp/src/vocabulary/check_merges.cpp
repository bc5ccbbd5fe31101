#include "merges/merge_chunk.hpp"
#include "prunedbpe/vocabulary.hpp"
#include "vocabulary/adjacency.hpp"

namespace prunedbpe {

std::optional<std::size_t> find_late_part(std::span<const Merge> merges) {
    for (std::size_t i = 0; i < merges.size(); ++i) {
        if (has_late_part(merges[i], i)) return i;
    }
    return std::nullopt;
}

std::optional<std::uint32_t> find_unreachable(std::span<const Merge> merges) {
    const MergeLookup lookup(merges);
    const Adjacency adjacency(lookup);
    for (std::uint32_t i = 0; i < merges.size(); ++i) {
        // The parts are reachable, so the token is if no earlier merge crosses their boundary.
        const std::uint32_t rank = byte_count + i;
        if (!adjacency.allows(raw(merges[i].left), raw(merges[i].right), rank)) return rank;
    }
    return std::nullopt;
}

}  // namespace prunedbpe
