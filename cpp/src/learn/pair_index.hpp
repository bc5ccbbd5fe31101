// All pairs of the corpus with their occurrences, and the queue that tells which is merged next.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "learn/flat_corpus.hpp"
#include "learn/pair_counter.hpp"
#include "learn/pair_order.hpp"
#include "learn/pair_table.hpp"
#include "learn/position_pool.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

/// A pair below this frequency is never merged.
inline constexpr std::int64_t least_frequency = 2;

/// Most pairs are rare and will not be merged for a long time, if ever. The index holds only those
/// whose frequency is at least its floor. Frequencies only fall, and a pair that is new is counted
/// when it appears, so no pair can come up to the floor from below: what is left out cannot be the
/// best. When no pair of the index is left, the corpus is read again and indexed down to a lower floor.
class PairIndex {
public:
    /// Indexes the corpus as it stands; down to the least frequency at once if it has fewer slots than
    /// `whole_below`, because reading again would cost more than it saves.
    PairIndex(const FlatCorpus& corpus, WorkerTeam& team, std::size_t whole_below);

    /// The pair to merge next, taken out of the queue, or nothing when no pair is frequent enough.
    /// Its `frequency` is exact. It must be given to `remove` once it is merged.
    std::optional<std::uint32_t> pop_best();

    Pair& operator[](std::uint32_t pair) { return pairs_[pair]; }

    /// Forgets a pair that was popped.
    void remove(std::uint32_t pair);

    /// Lowers the frequency of a pair by the weight of its destroyed occurrences.
    void decrease(std::uint64_t key, std::int64_t weight);

    /// Asks for the memory that `decrease` or `add` of this pair will need.
    void prefetch(std::uint64_t key) const { pairs_.prefetch(key); }

    /// Adds a new pair and returns its empty list, `count` long, to be filled in ascending order;
    /// nullptr if the pair is too rare to be kept. `queue` it when the list is filled.
    Position* add(std::uint64_t key, std::int64_t frequency, std::uint32_t count);

    /// Puts the pairs added since the last call into the queue.
    void queue_added();

    std::size_t memory() const;

private:
    /// Indexes a corpus of bytes.
    void index_byte_pairs();
    /// Starts over with a lower floor.
    void index_below();
    /// Indexes a corpus of any tokens; a sketch of all pairs tells first which may reach the floor.
    void index_any_pairs();
    PairSketch sketch_pairs() const;
    /// Makes pairs of what the workers counted, and tells them where to write the occurrences.
    template <class Counter>
    void keep_frequent(std::vector<Counter>& counters);
    Part chunks_of(unsigned worker) const { return corpus_.chunk_part(worker, team_.size()); }

    void push(std::uint32_t pair);
    void release_positions(Pair& pair);
    /// Moves the head to the first occurrence that still stands.
    void trim(Pair& pair) const;

    const FlatCorpus& corpus_;
    WorkerTeam& team_;
    std::int64_t floor_ = 0;  // pairs below are not in the index; 0: not chosen yet
    PairTable pairs_;
    PositionPool pool_;
    std::vector<QueueEntry> queue_;  // a heap; every pair, dead ones too, has exactly one entry
    std::vector<std::uint32_t> added_;
};

}  // namespace prunedbpe
