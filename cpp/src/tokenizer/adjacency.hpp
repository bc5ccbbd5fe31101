// Which two tokens may stand side by side in an encoded chunk.
//
// Tokens t1 ... tn are the encoding of their joined bytes exactly if each neighbouring pair is the
// encoding of its own joined bytes. (Merging a text and merging a part of it between two token
// boundaries do the same steps as long as no merge crosses a boundary; a first crossing merge would
// cross it in the pair alone, too.) So encoding can choose tokens from left to right and ask here,
// instead of merging byte by byte. It needs that every token encodes to itself, which Vocabulary checks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "merges/merge_chunk.hpp"
#include "util/hash.hpp"

namespace prunedbpe {

/// Sets of tokens as 32 bits each, for a quick answer that is often enough. A merge can cross the boundary
/// of two tokens only if it joins an end of the left one (the token, its right part, the right part of
/// that, ...) with a beginning of the right one (the token, its left part, ...), and comes before both are
/// taken up into the next larger end and beginning.
struct Signature {
    std::uint32_t ends = 0;
    std::uint32_t starts = 0;
    std::uint32_t follows = 0;   // what joins one of its ends before that is taken up
    std::uint32_t precedes = 0;  // what joins one of its beginnings before that is taken up

    bool surely_allows(const Signature& right) const {
        // Not `||`: both tests cost less than guessing wrong whether the second is needed.
        return ((follows & right.starts) == 0) | ((ends & right.precedes) == 0);
    }
};

/// By rank.
std::vector<Signature> make_signatures(std::span<const Merge> merges);

class Adjacency {
public:
    /// `lookup` must live as long.
    explicit Adjacency(const MergeLookup& lookup) : lookup_(lookup) {}

    /// Whether `left` and `right`, both tokens, stay as they are when their bytes are encoded together, by the merges
    /// that make ranks below `limit`.
    bool allows(std::uint32_t left, std::uint32_t right, std::uint32_t limit = MergeLookup::none) const;

private:
    const MergeLookup& lookup_;
};

}  // namespace prunedbpe
