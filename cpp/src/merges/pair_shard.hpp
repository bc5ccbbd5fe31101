// A part of the pair index that one worker at a time looks after: pairs, their lists, their queue.
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

/// Holds pairs whose frequency is at least its floor. Nothing is shared with other shards, so that
/// workers bring different shards up to date at the same time without locks.
class alignas(64) PairShard {
public:
    /// Forgets all pairs, which must have been merged or have fallen below the floor, and makes room for `expected` ones.
    void restart(std::int64_t floor, std::size_t expected) {
        floor_ = floor;
        pairs_ = PairTable(expected);
        pool_.clear();
        queue_.restart();
    }

    // Building the index: count every pair, keep the frequent ones, fill their lists, queue them.

    /// Adds what one worker counted of a pair; returns the frequency so far.
    std::int64_t add_counted(std::uint64_t key, std::int64_t frequency, std::uint32_t occurrences) {
        std::uint32_t found = pairs_.find(key);
        if (found == PairTable::none) {
            found = pairs_.insert(key);
            added_.push_back(found);
        }
        Pair& pair = pairs_[found];
        pair.count += occurrences;
        return pair.frequency += frequency;
    }
    /// Gives lists of the exact size to the counted pairs that reach the floor, and drops the others.
    void keep_frequent(std::int64_t floor) {
        floor_ = floor;
        std::size_t positions = 0;
        std::erase_if(added_, [&](std::uint32_t pair) {
            if (pairs_[pair].frequency >= floor_) {
                positions += pairs_[pair].count;
                return false;
            }
            pairs_.erase(pair);
            pairs_.recycle(pair);
            return true;
        });
        pool_.reserve(positions);
        for (const std::uint32_t pair : added_) pairs_[pair].positions = pool_.allocate(pairs_[pair].count);
    }
    /// Where the next worker writes its occurrences of a pair; nullptr if the pair was dropped.
    Position* take_room(std::uint64_t key, std::uint32_t occurrences) {
        const std::uint32_t found = pairs_.find(key);
        if (found == PairTable::none) return nullptr;
        Pair& pair = pairs_[found];
        Position* const room = pair.positions + pair.head;
        pair.head += occurrences;  // serves as the running total until the pair is queued
        return room;
    }
    /// Queues the counted pairs; their lists are filled.
    void queue_counted() {
        for (const std::uint32_t pair : added_) {
            pairs_[pair].head = 0;
            queue_.push({pairs_[pair].frequency, pairs_[pair].positions[0], pair});
        }
        added_.clear();
    }

    // Merging.

    /// Makes the pairs that merge next ready, `count` of them or all there are in open bins, those from `open_from` on.
    void find_best(const FlatCorpus& corpus, std::size_t count, std::size_t open_from);
    /// The next of those that are ready; nullptr if there is none.
    const QueueEntry* front() const { return taken_ < ready_.size() ? &ready_[taken_] : nullptr; }
    /// Is it unknown what comes next, because all that were ready are taken? Pairs of closed bins come after all of those
    /// that are ready, in any shard.
    bool is_unsure() const { return front() == nullptr && (queue_.has_near() || !later_.empty()); }
    /// How many pairs there are in open bins, dead ones too.
    std::size_t near_count() const { return ready_.size() - taken_ + later_.size() + queue_.near_count(); }
    const PairQueue& queue() const { return queue_; }
    const Pair& pair(const QueueEntry& entry) const { return pairs_[entry.pair]; }
    /// Takes the front; before the next `find_best` the pair must be merged and given to `remove`, or given back.
    void take_front() { ++taken_; }
    /// Makes what was taken last the front again.
    void give_back() { --taken_; }
    /// Forgets a pair that was merged.
    void remove(std::uint64_t key);

    /// Lowers the frequency of a pair by the weight of its destroyed occurrences.
    void decrease(std::uint64_t key, std::int64_t weight);

    std::int64_t floor() const { return floor_; }
    /// Adds a new pair that reaches the floor, and queues it. Returns its list, `count` long, which is
    /// to be filled in ascending order, `first` first, before the pair is merged or `find_best` is
    /// called after a `decrease` of the pair.
    Position* add(std::uint64_t key, std::int64_t frequency, std::uint32_t count, Position first);

    /// For a pair that will be decreased or added soon: two steps, each of which waits for the memory
    /// the one before has asked for.
    void prefetch_slot(std::uint64_t key) const { pairs_.prefetch_slot(key); }
    void prefetch_pair(std::uint64_t key) const { pairs_.prefetch_pair(key); }

    std::size_t memory() const { return pairs_.memory() + pool_.memory() + queue_.memory(); }

private:
    /// No pair stands there, and it is before all others: an entry that has it does not stand too far back.
    static constexpr Position unknown_position = 0;

    bool is_exact(const QueueEntry& entry) const {
        // No occurrence was lost since the entry was made: its first position holds too.
        return pairs_[entry.pair].frequency == entry.frequency && entry.first_position != unknown_position;
    }
    /// Brings an entry up to date, and tells whether its pair may merge soon: if not, it waits, or is dead.
    bool correct(QueueEntry& entry, const FlatCorpus& corpus);
    void queue_again(QueueEntry entry, const FlatCorpus& corpus) {
        if (correct(entry, corpus)) queue_.push(entry);
    }
    /// Brings an exact entry to the front of the queue, if any is left.
    void correct_front(const FlatCorpus& corpus);

    void release_positions(Pair& pair) {
        pool_.release(pair.positions, pair.count);
        pair.positions = nullptr;
    }

    std::int64_t floor_ = 0;
    PairTable pairs_;
    PositionPool pool_;
    PairQueue queue_;                // every pair, dead ones too, has exactly one entry, here or in one of the next
    std::vector<QueueEntry> ready_;  // exact, in order; what is not here merges later
    std::size_t taken_ = 0;          // of those that are ready
    std::vector<QueueEntry> later_;  // in order; once ready, but others came before them
    std::vector<QueueEntry> kept_;   // working memory
    std::vector<std::uint32_t> added_;  // counted, but not queued yet
};

}  // namespace prunedbpe
