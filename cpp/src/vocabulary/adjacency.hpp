// Which two tokens may be neighbours in an encoded chunk.
//
// Tokens t1 ... tn are the encoding of their joined bytes exactly if every two neighbours are the encoding of their own
// joined bytes. (Merging a text, and merging a part of it between two token boundaries, take the same steps as long as no
// merge crosses a boundary; the first merge to cross it would cross it in the two tokens alone, too.) So an encoder can
// choose tokens from left to right and ask here, instead of merging byte by byte. This needs every token to encode to
// itself, which Vocabulary checks. Theorem and use: GitHub's rust-gems, crates/bpe/README.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "merges/merge_chunk.hpp"
#include "util/hash.hpp"

namespace prunedbpe {

/// Sets of tokens as 32-bit Bloom filters, for a quick answer that is mostly enough. A merge can cross the boundary of two
/// tokens only if it joins an end of the left one (the token, its right part, the right part of that, ...) with a start
/// of the right one (the token, its left part, ...), before either is merged into the next larger end or start.
struct Signature {
    std::uint32_t ends = 0;      ///< the token's ends
    std::uint32_t starts = 0;    ///< its starts
    std::uint32_t follows = 0;   ///< what joins one of its ends in time
    std::uint32_t precedes = 0;  ///< what joins one of its starts in time

    bool surely_allows(const Signature& right) const {
        // Not `||`: a second test costs less than a misprediction.
        return ((follows & right.starts) == 0) | ((ends & right.precedes) == 0);
    }
};

/// By rank. O(merges).
std::vector<Signature> make_signatures(std::span<const Merge> merges);

class Adjacency {
public:
    /// Borrows `lookup`.
    explicit Adjacency(const MergeLookup& lookup) : lookup_(lookup) {}

    /// Do two tokens stay as they are when their joined bytes are encoded, by the merges that make ranks below `limit`?
    /// O(depth of the tokens).
    bool allows(std::uint32_t left, std::uint32_t right, std::uint32_t limit = MergeLookup::none) const;

private:
    const MergeLookup& lookup_;
};

}  // namespace prunedbpe
