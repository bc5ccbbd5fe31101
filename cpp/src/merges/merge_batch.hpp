// Several merges at a time, for threads to share merges that are too small to be shared one by one.
//
// The next few pairs of the queue are taken as they stand, as long as no token ends one of them and begins another: then
// no occurrence of the one overlaps one of the other. So each can be looked at without the others being done: what a
// merge finds in the corpus depends on an earlier one only if an occurrence of the one stands beside an occurrence of the
// other. And they are merged in this order indeed, unless an earlier one makes a new pair that comes before a later one.
// Both are seen while the corpus is only read; the batch is cut there, and what is left of it is exactly what merging one
// by one would do. In plain text twenty merges in a row have nothing to do with each other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "merges/flat_corpus.hpp"
#include "merges/pair_index.hpp"
#include "merges/settlement.hpp"

namespace prunedbpe {

class MergeBatch {
public:
    static constexpr std::size_t most = 128;

    explicit MergeBatch(std::size_t capacity) : capacity_(std::min(capacity, most)) {}

    /// Takes the next merges from the index, which has one at least, and `limit` at the most. One of `large` occurrences
    /// and more is taken alone.
    void plan(PairIndex& index, const FlatCorpus& corpus, std::size_t limit, std::size_t large);

    /// Does an occurrence of another member begin behind one of the member at `place`, at `at`, where `rank` stands?
    /// Then not both of them can be done.
    void note_neighbour(Findings& found, std::size_t place, const FlatCorpus& corpus, Position at, std::uint32_t rank) const {
        std::size_t other = roles_[rank].newest_as_left;
        if (other == none) [[likely]] return;
        const std::uint32_t next = corpus.right_of(at, rank);
        for (; other != none; other = earlier_as_left_[other]) {
            if (members_[other].merge.pair.right() == next && other != place) {
                found.cut = std::min(found.cut, std::max(place, other));
            }
        }
    }

    /// Keeps those that may be done together, by what was found of each, and gives the others back. The first one stays.
    void cut(std::span<const Findings> findings);

    /// In the order of merging. The findings of each are at its place.
    std::span<const Finished> members() const { return members_; }

private:
    static constexpr std::uint8_t none = 0xFF;

    /// What a rank is in the members.
    struct Roles {
        std::uint8_t newest_as_left = none;  // the last member that begins with it
        std::uint8_t as_right = 0;           // how many members end with it
    };

    void take(PairShard& shard, const FlatCorpus& corpus);
    void forget_last() {
        const Pair& pair = members_.back().merge.pair;
        --roles_[pair.right()].as_right;
        roles_[pair.left()].newest_as_left = earlier_as_left_[members_.size() - 1];
        members_.pop_back();
        shards_.pop_back();
    }

    std::size_t capacity_;
    std::vector<Finished> members_;
    std::vector<PairShard*> shards_;  // of the members
    std::vector<Roles> roles_;        // by rank
    std::array<std::uint8_t, most> earlier_as_left_;  // by member: the one before it that begins with the same rank
};

}  // namespace prunedbpe
