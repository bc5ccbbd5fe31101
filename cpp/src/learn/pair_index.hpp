// All pairs of the corpus with their occurrences, and the queue that tells which is merged next.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "learn/flat_corpus.hpp"
#include "learn/pair_order.hpp"
#include "learn/pair_table.hpp"
#include "learn/position_pool.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

/// A pair below this frequency is never merged. Frequencies only fall, so such a pair is not kept.
inline constexpr std::int64_t least_frequency = 2;

class PairIndex {
public:
    /// Indexes every pair of the corpus as it stands.
    PairIndex(const FlatCorpus& corpus, WorkerTeam& team);

    /// The pair to merge next, taken out of the queue, or nothing when no pair is frequent enough.
    /// Its `frequency` is exact. It must be given to `remove` once it is merged.
    std::optional<std::uint32_t> pop_best();

    Pair& operator[](std::uint32_t pair) { return pairs_[pair]; }

    /// Forgets a pair that was popped.
    void remove(std::uint32_t pair);

    /// Lowers the frequency of a pair by the weight of its destroyed occurrences.
    void decrease(std::uint64_t key, std::int64_t weight);

    /// Adds a new pair and returns its empty list, `count` long, to be filled in ascending order;
    /// nullptr if the pair is too rare to be kept. `queue` it when the list is filled.
    Position* add(std::uint64_t key, std::int64_t frequency, std::uint32_t count);

    /// Puts the pairs added since the last call into the queue.
    void queue_added();

    std::size_t memory() const;

private:
    void push(std::uint32_t pair);
    void release_positions(Pair& pair);
    /// Moves the head to the first occurrence that still stands.
    void trim(Pair& pair) const;

    const FlatCorpus& corpus_;
    PairTable pairs_;
    PositionPool pool_;
    std::vector<QueueEntry> queue_;  // a heap; every pair, dead ones too, has exactly one entry
    std::vector<std::uint32_t> added_;
};

}  // namespace prunedbpe
