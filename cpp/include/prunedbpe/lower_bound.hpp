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
#include <span>
#include <vector>

#include "prunedbpe/counts.hpp"

namespace prunedbpe {

/// Substrings of chunks, as flat arrays.
struct Substrings {
    std::vector<std::uint8_t> bytes;    ///< one after another, in lexicographic order
    std::vector<std::int64_t> offsets;  ///< string i is [offsets[i], offsets[i + 1])
    std::vector<std::int64_t> worths;   ///< by string: its S, in 1/unit of a token
};

/// Memory: 6 bytes for every match of a candidate in a unique chunk, 3 for every unique byte, and 16 more while it looks
/// for unlisted substrings.
class LowerBound {
public:
    static constexpr std::int64_t unit = 4096;  ///< multipliers are counted in 1/unit of a token

    /// `strings` are the 256 bytes, then the candidates, of which `required` are visible; all multipliers are 0. Borrows
    /// nothing. `threads` 0 means one per core. Throws std::length_error if counts are so large that sums could
    /// overflow, and for a chunk of 2^20 bytes or more.
    LowerBound(const ChunkCountsView& counts, std::span<const std::uint8_t> strings,
               std::span<const std::int64_t> string_offsets, std::size_t required, unsigned threads);
    ~LowerBound();

    /// Replaces the multipliers by equal ones for all edges of a token, so that S(t) = `price`, or as near as the limit of
    /// (length - 1) tokens per edge allows. A better start than 0.
    void start_at(double price);

    /// Takes one step from the present multipliers to better ones, in one pass over all chunks. `heat` goes from 1 to 0
    /// in the course of a search: the length of the step, and how much the direction is smoothed. Throws
    /// std::invalid_argument outside [0, 1].
    void ascend(double heat);

    /// The largest L of all multipliers that `ascend` started from, in 1/unit of a token; 0 before the first call.
    std::int64_t best() const;

    /// L of the present multipliers.
    std::int64_t evaluate() const;

    /// The same if every substring of a chunk is a candidate. Those that are not listed get, at each match [a, b), the
    /// least multiplier with which no cheapest path gets cheaper: max(0, F(b) - F(a) - 1), F(x) being the cheapest path
    /// to x. So only their S matter.
    std::int64_t evaluate_any() const;

    /// The substrings that are not candidates but have an S of more than `price()`, at most `most`, those with the
    /// largest S: what keeps `evaluate_any` below `evaluate`.
    Substrings unlisted(std::size_t most) const;

    /// Adds candidates, with these multipliers. None may be a candidate already.
    void add(std::span<const std::uint8_t> strings, std::span<const std::int64_t> string_offsets);

    /// By edge: chunk by chunk, in a chunk by place, and at one place by length.
    std::span<const std::uint16_t> multipliers() const;

    /// Replaces the multipliers. Throws std::invalid_argument for another number of edges.
    void set_multipliers(std::span<const std::uint16_t> multipliers);

    /// The N-th largest S(t) of the present multipliers, in tokens: about what one more visible token would save.
    double price() const;

    std::size_t candidate_count() const;

    /// Bytes held.
    std::size_t memory() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace prunedbpe
