// Which two tokens may stand side by side in an encoded chunk.
//
// Tokens t1 ... tn are the encoding of their joined bytes exactly if each neighbouring pair is the
// encoding of its own joined bytes. (Merging a text and merging a part of it between two token
// boundaries do the same steps as long as no merge crosses a boundary; a first crossing merge would
// cross it in the pair alone, too.) So encoding can choose tokens from left to right and ask here,
// instead of merging byte by byte. It needs that every token encodes to itself, which Vocabulary checks.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "prunedbpe/merger.hpp"
#include "util/hash.hpp"

namespace prunedbpe {

/// Sets of tokens as 64 bits, for a quick answer that is often enough: if no merge joins an end of the
/// left token (the token, its right part, the right part of that, ...) with a beginning of the right
/// one (the token, its left part, ...), nothing can cross their boundary.
struct Signatures {
    std::vector<std::uint64_t> follows;  // by rank: what merges with one of its ends
    std::vector<std::uint64_t> starts;   // by rank: its beginnings

    explicit Signatures(std::span<const Merge> merges);
};

class Adjacency {
public:
    Adjacency(const MergeLookup& lookup, std::span<const Merge> merges);

    /// Whether `left` and `right`, both tokens, stay as they are when their bytes are encoded together.
    bool allows(std::uint32_t left, std::uint32_t right) const {
        const std::uint64_t pair = std::uint64_t{left} << 32 | right << 1;
        std::atomic<std::uint64_t>& known = known_[hash_key(pair) >> (64 - known_bits)];
        const std::uint64_t entry = known.load(std::memory_order_relaxed);
        if ((entry & ~std::uint64_t{1}) == pair) return entry & 1;
        const bool allowed = unwind(left, right);
        known.store(pair | (allowed ? 1 : 0), std::memory_order_relaxed);
        return allowed;
    }

private:
    // Answers already given, the last one of each place: 512 KB, whatever is encoded. An entry is one
    // word with its question in it, so threads share it without locks.
    static constexpr int known_bits = 16;

    bool unwind(std::uint32_t left, std::uint32_t right) const;

    const MergeLookup& lookup_;
    std::vector<Merge> parts_;  // by rank; a byte is made of itself
    mutable std::vector<std::atomic<std::uint64_t>> known_;
};

}  // namespace prunedbpe
