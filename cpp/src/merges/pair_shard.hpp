// A part of the pair index that one worker at a time updates: pairs, their occurrence lists, their queue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "merges/flat_corpus.hpp"
#include "merges/pair_order.hpp"
#include "merges/pair_queue.hpp"
#include "merges/pair_table.hpp"
#include "merges/position_pool.hpp"

namespace prunedbpe {

/// Holds pairs whose frequency is at least its floor. Shards share no data, so workers update different shards at the
/// same time without locks. A pair whose frequency falls below the floor is dead: its list is freed at once, its row
/// when its queue entry comes up.
template <class Position>
class alignas(64) PairShard {
public:
    using Entry = QueueEntry<Position>;

    /// Forgets all pairs, which must have been merged or be dead, and makes room for `expected` new ones.
    void restart(std::int64_t floor, std::size_t expected) {
        floor_ = floor;
        pairs_ = PairTable<Position>(expected);
        pool_.clear();
        queue_.restart();
    }

    // Building the index, in this order: count every pair, keep the frequent ones, fill their lists, queue them.

    /// Adds one worker's counts of a pair; returns the frequency so far.
    std::int64_t add_counted(Pair pair, std::int64_t frequency, Position occurrences) {
        std::uint32_t row = pairs_.find(pair);
        if (row == pairs_.none) {
            row = pairs_.insert(pair);
            counted_.push_back(row);
        }
        pairs_[row].position_count += occurrences;
        return pairs_[row].frequency += frequency;
    }
    /// Allocates lists of the exact size for the counted pairs that reach the floor, and drops the others.
    void keep_frequent(std::int64_t floor) {
        floor_ = floor;
        std::size_t positions = 0;
        std::erase_if(counted_, [&](std::uint32_t row) {
            if (pairs_[row].frequency >= floor_) {
                positions += pairs_[row].position_count;
                return false;
            }
            pairs_.erase(row);
            pairs_.recycle(row);
            return true;
        });
        pool_.reserve(positions);
        for (const std::uint32_t row : counted_) pairs_[row].positions = pool_.allocate(pairs_[row].position_count);
    }
    /// Where the next worker, in corpus order, writes its occurrences of a pair; nullptr if the pair was dropped.
    Position* take_room(Pair pair, Position occurrences) {
        const std::uint32_t row = pairs_.find(pair);
        if (row == pairs_.none) return nullptr;
        Position* const room = pairs_[row].positions + pairs_[row].first_alive;
        pairs_[row].first_alive += occurrences;  // the number of positions given out, until the pair is queued
        return room;
    }
    /// Queues the counted pairs; their lists are filled.
    void queue_counted() {
        for (const std::uint32_t row : counted_) {
            pairs_[row].first_alive = 0;
            queue_.push({pairs_[row].frequency, pairs_[row].positions[0], row});
        }
        counted_.clear();
    }

    // Choosing merges.

    /// Opens the queue's bins from `open_from` on and makes the `count` pairs that merge next ready, or all near ones
    /// if there are fewer. Must be called after every change.
    void find_best(const FlatCorpus<Position>& corpus, std::size_t count, std::size_t open_from);
    /// The next ready pair; nullptr if there is none.
    const Entry* front() const { return taken_ < ready_.size() ? &ready_[taken_] : nullptr; }
    /// Are all ready pairs taken while more near ones are left? Then the next pair is unknown until `find_best`. Far
    /// pairs do not matter: they merge after the near pairs of every shard.
    bool is_front_unknown() const { return front() == nullptr && (queue_.has_near() || !later_.empty()); }
    /// Near pairs, dead ones included.
    std::size_t near_count() const { return ready_.size() - taken_ + later_.size() + queue_.near_count(); }
    const PairQueue<Position>& queue() const { return queue_; }
    const IndexedPair<Position>& pair(const Entry& entry) const { return pairs_[entry.row]; }
    /// Takes the front. Before the next `find_best` the pair must be merged and removed, or given back.
    void take_front() { ++taken_; }
    /// Makes the pair taken last the front again.
    void give_back() { --taken_; }

    // Updating pairs after a merge.

    /// Removes a pair that was merged.
    void remove(Pair pair);
    /// Lowers the frequency of a pair, if it is here, by the weight of its destroyed occurrences.
    void decrease(Pair pair, std::int64_t weight);
    /// Adds and queues a new pair that reaches the floor. Returns its list of `occurrences` positions, which the caller
    /// must fill in ascending order, starting with `first`, before the next `decrease` or merge of the pair.
    Position* add(Pair pair, std::int64_t frequency, Position occurrences, Position first);
    std::int64_t floor() const { return floor_; }

    /// See PairTable.
    void prefetch_slot(Pair pair) const { pairs_.prefetch_slot(pair); }
    void prefetch_row(Pair pair) const { pairs_.prefetch_row(pair); }

    std::size_t memory() const { return pairs_.memory() + pool_.memory() + queue_.memory(); }

private:
    /// First position of an entry whose list has not been searched yet. It sorts before all real positions, so the
    /// entry never stands too far back.
    static constexpr Position unknown_position = 0;

    bool is_exact(const Entry& entry) const {
        // Same frequency: no occurrence was lost since the entry was made, so its first position is right too.
        return pairs_[entry.row].frequency == entry.frequency && entry.first_position != unknown_position;
    }
    /// Brings an entry up to date and returns whether its pair is near. If not, the pair is dead or back in a bin.
    bool correct(Entry& entry, const FlatCorpus<Position>& corpus);
    void queue_again(Entry entry, const FlatCorpus<Position>& corpus) {
        if (correct(entry, corpus)) queue_.push(entry);
    }
    /// Corrects entries until the front of the queue is exact or no near pair is left.
    void correct_front(const FlatCorpus<Position>& corpus);

    void release_positions(IndexedPair<Position>& pair) {
        pool_.release(pair.positions, pair.position_count);
        pair.positions = nullptr;
    }

    std::int64_t floor_ = 0;
    PairTable<Position> pairs_;
    PositionPool<Position> pool_;
    // Every pair, dead or alive, has exactly one entry: in queue_, ready_ or later_.
    PairQueue<Position> queue_;
    std::vector<Entry> ready_;       // exact and in order; every other pair merges later
    std::size_t taken_ = 0;               // how many of ready_ are taken
    std::vector<Entry> later_;       // in order; were ready until better pairs displaced them
    std::vector<Entry> scratch_;     // of find_best
    std::vector<std::uint32_t> counted_;  // rows counted but not queued yet
};

}  // namespace prunedbpe
