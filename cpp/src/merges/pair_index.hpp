// All pairs of the corpus with their occurrences, and which of them is merged next.
#pragma once

#include <cstdint>
#include <vector>

#include "merges/flat_corpus.hpp"
#include "merges/pair_counter.hpp"
#include "merges/pair_shard.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

/// A pair below this frequency is never merged.
inline constexpr std::int64_t least_frequency = 2;

/// Most pairs are rare and will not be merged for a long time, if ever. The index holds only those
/// whose frequency is at least its floor. Frequencies only fall, and a pair that is new is counted
/// when it appears, so no pair can come up to the floor from below: what is left out cannot be the
/// best. When no pair of the index is left, the corpus is read again and indexed down to a lower floor.
///
/// The pairs are dealt out to shards, one for each worker. Which shard holds a pair decides who keeps
/// it up to date and nothing else: the order of merging is total, and the best pair is the best of the
/// shards' best.
template <class Position>
class PairIndex {
public:
    /// Indexes the corpus as it stands. Every shard keeps `ready_count` pairs ready.
    PairIndex(const FlatCorpus<Position>& corpus, WorkerTeam& team, std::size_t ready_count);

    /// The shard whose front is merged next, or nullptr when no pair is frequent enough. Every shard's
    /// `find_best` must have been called since its last change.
    PairShard<Position>* best_shard();
    /// The shard whose front is merged after those that were taken; nullptr if that is not known yet.
    PairShard<Position>* next_shard();
    /// After a merge, before `find_best`: chooses which bins of the queues are open, more if few near pairs are left.
    /// All shards then open the same bins at the same time, so none waits while another one sorts.
    void choose_open_bins();
    /// After a merge, for each shard.
    void find_best(unsigned shard) { shards_[shard].find_best(corpus_, ready_count_, open_from_); }

    unsigned shard_of(Pair pair) const {
        // Must spread the pairs of one token with its neighbours, which change together.
        const std::uint32_t mixed = (pair.left + pair.right) * 0x9E3779B1u;
        return static_cast<unsigned>(std::uint64_t{mixed} * shards_.size() >> 32);
    }
    PairShard<Position>& shard(unsigned shard) { return shards_[shard]; }
    /// Pairs of a lower frequency are not in the index.
    std::int64_t floor() const { return floor_; }

    std::size_t memory() const;

private:
    /// A guess at the pairs of a shard, to reserve room.
    std::size_t expected_pairs() const {
        return std::min<std::size_t>(corpus_.slot_count() / 8, std::size_t{1} << 18) / shards_.size();
    }
    /// Empties all shards.
    void restart();
    /// Indexes a corpus of single bytes.
    void index_byte_pairs();
    /// Indexes a corpus of any tokens.
    void index_any_pairs();
    /// Lowers the floor and indexes again.
    void index_below();
    PairSketch sketch_pairs() const;
    /// Sums the workers' counts, makes room for the pairs that reach the floor, and points the workers to it.
    template <class Counter>
    void keep_frequent(std::vector<Counter>& counters);
    /// Queues the pairs whose lists were filled.
    void queue_counted();
    Part chunks_of(unsigned worker) const { return corpus_.chunk_part(worker, team_.size()); }

    const FlatCorpus<Position>& corpus_;
    WorkerTeam& team_;
    std::size_t ready_count_;
    std::int64_t floor_ = 0;                                  // 0: not chosen yet
    std::size_t open_from_ = PairQueue<Position>::bin_count;  // the lowest open bin of every shard's queue
    std::vector<PairShard<Position>> shards_;
};

}  // namespace prunedbpe
