// Several merges at a time: threads share merges that are too small to be split.
//
// The batch takes the next few pairs of the queue, as long as no token ends one of them and begins another: then no
// occurrence of one overlaps an occurrence of another, and all can be scanned before any is replaced. Two things can
// still make the result differ from merging one by one:
//   - an occurrence of a later merge stands beside one of an earlier merge, so its neighbour changes;
//   - an earlier merge makes a new pair that is more frequent than a later merge.
// The scans see both. The batch is cut before the first such merge, and what is left is exactly what merging one by one
// would do. In plain text twenty merges in a row are typically independent.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "merges/flat_corpus.hpp"
#include "merges/occurrence_scan.hpp"
#include "merges/pair_index.hpp"

namespace prunedbpe {

template <class Position>
class MergeBatch {
public:
    static constexpr std::size_t max_size = 128;

    explicit MergeBatch(std::size_t capacity) : capacity_(std::min(capacity, max_size)) {}

    /// Takes the next merges from the index, which must have one, and `limit` at most. A merge with `split_from` or
    /// more occurrences is taken alone.
    void choose(PairIndex<Position>& index, const FlatCorpus<Position>& corpus, std::size_t limit,
                std::size_t split_from);

    /// For an occurrence of merge `member` that ends at position `after`, where `rank` stands: lowers the scan's limit
    /// if an occurrence of another merge begins there.
    void note_adjacent(OccurrenceScan<Position>& scan, std::size_t member, const FlatCorpus<Position>& corpus,
                       Position after, std::uint32_t rank) const {
        std::size_t other = roles_[rank].last_as_left;
        if (other == none) [[likely]] return;
        const std::uint32_t next = corpus.right_of(after, rank);
        for (; other != none; other = previous_as_left_[other]) {
            if (merges_[other].pair().right == next && other != member) {
                scan.batch_limit = std::min(scan.batch_limit, std::max(member, other));
            }
        }
    }

    /// Keeps the merges that are independent, given the scans of all, and gives the others back. The first one stays.
    void cut(std::span<const OccurrenceScan<Position>> scans);

    /// In order of merging; ranks are consecutive.
    std::span<const ChosenMerge<Position>> merges() const { return merges_; }

private:
    static constexpr std::uint8_t none = 0xFF;  // not a member

    /// What a rank is in the members.
    struct Roles {
        std::uint8_t last_as_left = none;  // the last member that begins with it
        std::uint8_t as_right = 0;         // how many members end with it
    };

    void take_front(PairShard<Position>& shard, const FlatCorpus<Position>& corpus);
    void drop_last() {
        const auto [left, right] = merges_.back().pair();
        --roles_[right].as_right;
        roles_[left].last_as_left = previous_as_left_[merges_.size() - 1];
        merges_.pop_back();
        shards_.pop_back();
    }

    std::size_t capacity_;
    std::vector<ChosenMerge<Position>> merges_;
    std::vector<PairShard<Position>*> shards_;             // by member: where its pair was taken
    std::array<std::uint8_t, max_size> previous_as_left_;  // by member: the one before it with the same left rank
    std::vector<Roles> roles_;                             // by rank
};

}  // namespace prunedbpe
