// The corpus of the Picky learner: a slot per byte, in which tokens are merged and split.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "merges/pair.hpp"
#include "prunedbpe/counts.hpp"

namespace prunedbpe::picky {

using Position = std::uint32_t;

/// Like the Standard learner's FlatCorpus, but the last slot of a token carries a flag: after a split, a token
/// may end in a slot where it once began, and a stale position must not take one for the other.
class PickyCorpus {
public:
    static constexpr std::uint32_t boundary = 0x7FFFFFFF;
    static constexpr std::uint32_t interior = 0x7FFFFFFE;

    explicit PickyCorpus(const ChunkCountsView& counts);

    /// The token that starts at `at`; if none does, a value that is not a token.
    std::uint32_t token_at(Position at) const { return slots_[at]; }
    /// The token that ends just before `at`, or `boundary`.
    std::uint32_t token_before(Position at) const { return slots_[at - 1] & ~last_flag; }
    bool holds(Position at, Pair pair) const {
        return slots_[at] == pair.left && slots_[at + length(pair.left)] == pair.right;
    }
    /// Writes `token` into the slots from `at` on.
    void write(Position at, std::uint32_t token);

    std::uint32_t length(std::uint32_t token) const { return lengths_[token]; }
    void add_token(std::uint32_t bytes) { lengths_.push_back(bytes); }

    std::int64_t weight_at(Position at) const { return weights_[chunk_at(at)]; }
    std::size_t chunk_count() const { return ends_.size(); }
    Position chunk_begin(std::size_t chunk) const { return chunk == 0 ? 1 : ends_[chunk - 1] + 1; }
    Position chunk_end(std::size_t chunk) const { return ends_[chunk]; }
    std::int64_t chunk_weight(std::size_t chunk) const { return weights_[chunk]; }

private:
    static constexpr std::uint32_t last_flag = 0x80000000;
    static constexpr unsigned block_bits = 6;

    std::size_t chunk_at(Position at) const {
        std::size_t chunk = block_first_chunk_[at >> block_bits];
        while (ends_[chunk] <= at) ++chunk;
        return chunk;
    }

    std::vector<std::uint32_t> slots_;
    std::vector<std::uint32_t> lengths_;  // by token
    std::vector<Position> ends_;          // by chunk
    std::vector<std::int64_t> weights_;   // by chunk
    std::vector<std::uint32_t> block_first_chunk_;  // by 2^block_bits slots: the first chunk ending after their first
};

}  // namespace prunedbpe::picky
