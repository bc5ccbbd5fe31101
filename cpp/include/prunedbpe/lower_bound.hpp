// A lower bound on the tokens of a corpus under any choice of visible tokens.
//
// Every unique chunk is a graph: its nodes are the positions between its bytes, a match of a candidate is an edge, and
// so is every single byte. Give each edge e of a candidate a multiplier m(e) >= 0. Then no choice of N candidates gives
// fewer tokens than
//
//     L(m) = sum over chunks of count * (cheapest path, where an edge costs 1 + m(e))
//            - the sum of the N largest S(t),  S(t) = sum over the edges of t of count * m(e)
//
// because a path of visible tokens costs at most what L adds for the edges of these tokens, and S(t) takes that back.
// Any multipliers will do; a search from m = 0 finds good ones. Multipliers are whole numbers of 1/4096 and all sums are
// integers, so the bound is exact, and the same for any number of threads. docs/concepts/lower-bound.md has the proof.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "prunedbpe/counts.hpp"

namespace prunedbpe {

/// Memory: 6 bytes for every match of a candidate in a unique chunk, and about 3 for every unique byte.
class LowerBound {
public:
    static constexpr std::int64_t unit = 4096;  ///< multipliers are counted in 1/unit of a token

    /// `strings` are the 256 bytes, then the candidates, of which `required` are visible. Candidates that are not listed
    /// are covered as well if frequency * (length - 1) of each is at most `unlisted`, frequency being the sum of the
    /// chunk counts over all places where it matches; 0 if there are none. Borrows nothing. `threads` 0 means one per
    /// core. Throws std::length_error if counts are so large that sums could overflow.
    LowerBound(const ChunkCountsView& counts, std::span<const std::uint8_t> strings,
               std::span<const std::int64_t> string_offsets, std::size_t required, std::int64_t unlisted, unsigned threads);
    ~LowerBound();

    /// Takes one step from the present multipliers to better ones, in one pass over all chunks. `heat` goes from 1 to 0
    /// in the course of a search: the length of the step, and how much the direction is smoothed. Throws
    /// std::invalid_argument outside [0, 1].
    void ascend(double heat);

    /// The largest L of all multipliers that `ascend` started from, in 1/unit of a token; 0 before the first call.
    std::int64_t best() const;

    /// L of the present multipliers.
    std::int64_t evaluate() const;

    /// By edge: chunk by chunk, in a chunk by place, and at one place by length.
    std::span<const std::uint16_t> multipliers() const;

    /// Replaces the multipliers. Throws std::invalid_argument for another number of edges.
    void set_multipliers(std::span<const std::uint16_t> multipliers);

    /// The N-th largest S(t) of the multipliers that the last `ascend` started from, in tokens: what a further visible
    /// token would save. A bound with `unlisted` above this is weaker than it could be.
    double price() const;

    /// Bytes held.
    std::size_t memory() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Substrings of chunks, as a trie can take them.
struct Substrings {
    std::vector<std::uint8_t> bytes;     ///< one after another, in lexicographic order
    std::vector<std::int64_t> offsets;   ///< string i is [offsets[i], offsets[i + 1])
    std::vector<std::int64_t> values;    ///< by string: frequency * (length - 1)
};

/// All substrings of two bytes or more with frequency * (length - 1) >= `least`, which must be positive; frequency is the
/// sum of the chunk counts over all places where the string matches, overlapping ones too. Returns nothing if there are
/// more than `most`. Sorts all suffixes of all chunks byte by byte, but drops a group of suffixes as soon as no common
/// prefix of some of them can reach `least`. Memory: 8 bytes per unique byte.
std::optional<Substrings> frequent_substrings(const ChunkCountsView& counts, std::int64_t least, std::size_t most,
                                              unsigned threads);

}  // namespace prunedbpe
