// Choosing visible tokens for the shortest segmentation: what every token is worth to a corpus.
//
// Every chunk is cut into the fewest visible tokens (shortest.hpp). With V the visible tokens and D(V) the fewest tokens
// of a chunk, the loss of a visible token t is D(V without t) - D(V), and the gain of a hidden one is D(V) - D(V with t).
// Both are summed over all chunks, for each source of the corpus apart. A caller that drops tokens of little loss and adds
// tokens of great gain chooses a vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "prunedbpe/counts.hpp"
#include "prunedbpe/sources.hpp"

namespace prunedbpe {

/// The fewest tokens of a corpus under a visible set that changes. Numbers are exact sums of integers, so they do not
/// depend on the number of threads. Memory: 8 bytes for every match of a candidate in a unique chunk, and about 12 for
/// every unique byte.
class FewestTokens {
public:
    /// Tokens are numbered by rank: `strings` are the 256 bytes, always visible, then the candidates, all hidden at
    /// first. Borrows nothing. `threads` 0 means one per core.
    FewestTokens(const ChunkCountsView& counts, const SourcesView& sources, std::span<const std::uint8_t> strings,
                 std::span<const std::int64_t> string_offsets, unsigned threads);
    ~FewestTokens();

    /// Shows the hidden ones among these tokens and hides the visible ones. Takes effect with `settle`, which must have
    /// finished before the next flip and before reading any number. Throws std::invalid_argument for a byte, for an
    /// unknown rank, and for a rank that is given twice.
    void flip(std::span<const std::uint32_t> ranks);

    /// Goes through the chunks in which flipped tokens match, for about `seconds`. Returns whether it is done.
    bool settle(double seconds);

    /// By rank, and by source within a rank: the loss of every visible token, 0 for others.
    std::span<const std::int64_t> losses() const;

    /// By rank: what the losses of a token are worth. Only those that changed since the last call are computed again.
    std::span<const double> loss_values(const SourceValue& value);

    /// As `losses`, the gain of every hidden token, 0 for others; computed by going through all chunks.
    std::vector<std::int64_t> gains() const;

    /// By source: the fewest tokens of its chunks.
    std::span<const std::int64_t> lengths() const;

    /// Bytes held.
    std::size_t memory() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace prunedbpe
