// Reading the occurrences of a pair that is being merged: what is replaced, and which pairs change by it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "merges/flat_corpus.hpp"
#include "merges/neighbour_tally.hpp"
#include "merges/pair_table.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

/// A pair (a, b) that becomes the token `merged`, t in the comments. A copy of the pair's row in the index: the list of
/// positions is valid until the pair is removed from its shard.
template <class Position>
struct ChosenMerge {
    IndexedPair<Position> indexed;
    std::uint32_t merged;

    const Pair& pair() const { return indexed.pair; }
};

/// What one worker finds at all occurrences of a merge, or at its part of them. Where "x a b y" becomes "x t y", the
/// pairs (x, a) and (b, y) lose the occurrence, and (x, t) and (t, y) gain it.
template <class Position>
struct alignas(64) OccurrenceScan {
    NeighbourTally<Position> left;   ///< by x
    NeighbourTally<Position> right;  ///< by y
    std::int64_t applied = 0;        ///< weight of all replacements
    std::int64_t rejoined = 0;       ///< weight of "t a b" that became "t t": (b, a) loses it, but `right` no longer has it
    unsigned worker = 0;             ///< who scanned, and has the tallies in its cache

    // Only if the merge is one of a batch, which is replaced later:
    std::vector<Position> to_replace;
    std::size_t batch_limit = 0;  ///< how many merges of the batch are independent, as far as this scan can see

    NeighbourTally<Position>& side(bool is_left) { return is_left ? left : right; }
    void return_sum_indexes() {
        left.return_sum_index();
        right.return_sum_index();
    }
    std::size_t memory() const {
        return left.memory() + right.memory() + to_replace.capacity() * sizeof(Position);
    }
};

/// Scans part of the merge's list in ascending order. `use` gets the position of each occurrence to replace, the
/// position after it and the rank there; it may replace the occurrence at once. O(length of the part).
template <class Position, class Use>
void scan_occurrences(const FlatCorpus<Position>& corpus, const ChosenMerge<Position>& merge, Part part,
                      SumIndexes& lent, OccurrenceScan<Position>& scan, Use&& use) {
    constexpr std::size_t prefetch_distance = 24;  // occurrences are far apart in memory
    const std::uint32_t t = merge.merged;
    const Position merged_length = corpus.length(merge.pair().left) + corpus.length(merge.pair().right);
    const Position* const list = merge.indexed.positions;
    scan.left.start(lent.left, t + 1);
    scan.right.start(lent.right, t + 1);
    scan.applied = scan.rejoined = 0;
    Position after = 0;  // end of the last occurrence
    Position chunk_end = 0;
    std::int64_t chunk_weight = 0;
    const auto prefetch = [&](Position at) {
        // From the left neighbour to the right one: often two cache lines.
        __builtin_prefetch(corpus.slot(at - 1), 1);
        __builtin_prefetch(corpus.slot(at + merged_length), 1);
    };
    for (std::size_t i = part.begin; i < std::min(part.begin + prefetch_distance, part.end); ++i) prefetch(list[i]);
    for (std::size_t i = part.begin; i < part.end; ++i) {
        if (i + prefetch_distance < part.end) prefetch(list[i + prefetch_distance]);
        const Position at = list[i];
        if (at < after || !corpus.holds(at, merge.pair())) continue;  // overlaps the last one, or is destroyed
        std::int64_t weight = corpus.small_weight_at(at);
        if (weight == 0) {
            if (at >= chunk_end) {
                const std::size_t chunk = corpus.chunk_at(at);
                chunk_end = corpus.chunk_end(chunk);
                chunk_weight = corpus.chunk_weight(chunk);
            }
            weight = chunk_weight;
        }
        const bool follows_another = at == after;
        after = at + merged_length;
        const std::uint32_t left = corpus.left_of(at), right = corpus.rank_at(after);
        use(at, after, right);
        scan.applied += weight;
        if (follows_another) {
            // The last record on the right is the "t a" that the occurrence before made. It is "t t" now.
            scan.right.undo_add(weight);
            scan.rejoined += weight;
            scan.left.add(t, at - merged_length, weight);
        } else if (left != corpus.boundary) {
            scan.left.add(left, at - corpus.length(left), weight);
        }
        if (right != corpus.boundary) scan.right.add(right, at, weight);
    }
}

/// Part `index` of `parts` of a pair's list. Parts end at chunk borders, because occurrences in one chunk may overlap.
template <class Position>
Part part_of_list(const FlatCorpus<Position>& corpus, const IndexedPair<Position>& pair, unsigned index,
                  unsigned parts) {
    const Position* const begin = pair.positions + pair.first_alive;
    const Position* const end = pair.positions + pair.position_count;
    const auto at_chunk_border = [&](std::size_t i) {
        const Position* border = begin + i;
        if (border != begin && border != end) {
            // Binary search: if the whole corpus is one chunk, the border is far away.
            border = std::lower_bound(border, end, corpus.chunk_end(corpus.chunk_at(border[-1])));
        }
        return static_cast<std::size_t>(border - pair.positions);
    };
    const Part even = part_of(pair.candidate_count(), index, parts);
    return {at_chunk_border(even.begin), at_chunk_border(even.end)};
}

}  // namespace prunedbpe
