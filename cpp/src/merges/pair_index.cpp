#include "merges/pair_index.hpp"

#include <algorithm>

namespace prunedbpe {
namespace {

/// The first floor is this many times lower than the highest frequency. The k-th merge is about k times less
/// frequent than the first, so tens of thousands of merges need no second index.
constexpr std::int64_t first_floor_step = 1 << 15;
/// Each later floor is this many times lower than the one before. A larger step reads the corpus less often but
/// keeps lists of more pairs whose turn is far away.
constexpr std::int64_t floor_step = 4;

}  // namespace

template <class Position>
PairIndex<Position>::PairIndex(const FlatCorpus<Position>& corpus, WorkerTeam& team, std::size_t ready_count)
    : corpus_(corpus), team_(team), ready_count_(ready_count), shards_(team.size()) {
    restart();
    if (corpus.rank_count() == byte_count) {
        index_byte_pairs();
    } else {
        index_any_pairs();
    }
}

template <class Position>
void PairIndex<Position>::restart() {
    open_from_ = PairQueue<Position>::bin_count;
    team_.run([&](unsigned shard) { shards_[shard].restart(floor_, expected_pairs()); });
}

template <class Position>
void PairIndex<Position>::index_byte_pairs() {
    // Counting bytes is cheap and their lists are long: reading the corpus twice beats recording every occurrence.
    std::vector<BytePairCounter<Position>> counters(team_.size());
    team_.run([&](unsigned worker) {
        BytePairCounter<Position>& counter = counters[worker];
        counter.start();
        for_each_byte_pair(corpus_, chunks_of(worker), [&](Pair pair, Position, std::int64_t weight) {
            counter.add(pair, weight);
        });
    });
    keep_frequent(counters);
    team_.run([&](unsigned worker) {
        BytePairCounter<Position>& counter = counters[worker];
        for_each_byte_pair(corpus_, chunks_of(worker), [&](Pair pair, Position at, std::int64_t) {
            if (Position*& room = counter[pair].room; room != nullptr) *room++ = at;
        });
    });
    queue_counted();
}

template <class Position>
void PairIndex<Position>::index_below() {
    // Every pair was merged or is dead, so no list is left.
    floor_ = std::max(least_frequency, floor_ / floor_step);
    restart();
    index_any_pairs();
}

template <class Position>
void PairIndex<Position>::index_any_pairs() {
    std::vector<PairCounter<Position>> counters(team_.size());
    const auto count_pairs = [&](auto&& may_be_frequent) {
        team_.run([&](unsigned worker) {
            PairCounter<Position>& counter = counters[worker];
            for_each_pair(corpus_, chunks_of(worker), [&](Pair pair, Position at, std::int64_t weight) {
                if (may_be_frequent(pair)) counter.add(pair, at, weight);
            });
        });
    };
    if (floor_ == least_frequency) {
        count_pairs([](Pair) { return true; });
    } else {
        const PairSketch sketch = sketch_pairs();
        if (floor_ == 0) floor_ = std::max(least_frequency, sketch.largest() / (floor_step * floor_step));
        count_pairs([&](Pair pair) { return sketch.may_reach(pair, floor_); });
    }
    keep_frequent(counters);
    team_.run([&](unsigned worker) {
        PairCounter<Position>& counter = counters[worker];
        const auto& records = counter.records();
        for (std::size_t i = 0; i < records.size(); ++i) {
            if (Position*& room = counter[records[i].entry].room; room != nullptr) *room++ = records[i].position;
        }
    });
    queue_counted();
}

template <class Position>
PairSketch PairIndex<Position>::sketch_pairs() const {
    std::vector<PairSketch> sketches;
    for (unsigned worker = 0; worker < team_.size(); ++worker) sketches.emplace_back(corpus_.slot_count() / 4 + 2);
    team_.run([&](unsigned worker) {
        for_each_pair(corpus_, chunks_of(worker), [&](Pair pair, Position, std::int64_t weight) {
            sketches[worker].add(pair, weight);
        });
    });
    team_.run([&](unsigned worker) {
        const Part part = part_of(sketches[0].size(), worker, team_.size());
        for (std::size_t other = 1; other < sketches.size(); ++other) sketches[0].add(sketches[other], part);
    });
    return std::move(sketches[0]);
}

template <class Position>
template <class Counter>
void PairIndex<Position>::keep_frequent(std::vector<Counter>& counters) {
    // 1. Sums over the workers.
    std::vector<std::int64_t> best(shards_.size());
    team_.run([&](unsigned shard) {
        for (Counter& counter : counters) {
            counter.for_each([&](Pair pair, const CountedPair<Position>& counted) {
                if (shard_of(pair) != shard) return;
                best[shard] = std::max(best[shard],
                                       shards_[shard].add_counted(pair, counted.weight, counted.occurrences));
            });
        }
    });
    if (floor_ == 0) {
        floor_ = std::max(least_frequency, *std::max_element(best.begin(), best.end()) / first_floor_step);
    }

    // 2. Lists for the pairs worth keeping. Workers hold consecutive parts of the corpus, so in their order the lists
    // are ascending.
    team_.run([&](unsigned shard) {
        shards_[shard].keep_frequent(floor_);
        for (Counter& counter : counters) {
            counter.for_each([&](Pair pair, CountedPair<Position>& counted) {
                if (shard_of(pair) == shard) counted.room = shards_[shard].take_room(pair, counted.occurrences);
            });
        }
    });
}

template <class Position>
void PairIndex<Position>::queue_counted() {
    team_.run([&](unsigned shard) { shards_[shard].queue_counted(); });
}

template <class Position>
void PairIndex<Position>::choose_open_bins() {
    std::size_t near = 0, far = 0;
    for (const PairShard<Position>& shard : shards_) {
        near += shard.near_count();
        far += shard.queue().far_count();
    }
    const std::size_t few = 2 * ready_count_ * shards_.size();  // twice, because shards hold unequal numbers
    if (near >= few) return;
    while (near < 2 * few && far > 0) {
        --open_from_;
        for (const PairShard<Position>& shard : shards_) {
            near += shard.queue().bin_size(open_from_);
            far -= shard.queue().bin_size(open_from_);
        }
    }
}

template <class Position>
PairShard<Position>* PairIndex<Position>::best_shard() {
    while (true) {
        if (PairShard<Position>* const best = next_shard()) return best;
        const bool any_far = std::any_of(shards_.begin(), shards_.end(),
                                         [](const auto& shard) { return shard.queue().far_count() > 0; });
        if (any_far) {
            choose_open_bins();
            team_.run([&](unsigned shard) { find_best(shard); });
        } else if (floor_ > least_frequency) {
            index_below();
        } else {
            return nullptr;
        }
    }
}

template <class Position>
PairShard<Position>* PairIndex<Position>::next_shard() {
    PairShard<Position>* best = nullptr;
    for (PairShard<Position>& shard : shards_) {
        if (shard.is_front_unknown()) return nullptr;
        if (shard.front() == nullptr) continue;
        if (best == nullptr || merges_before(*shard.front(), *best->front())) best = &shard;
    }
    return best;
}

template <class Position>
std::size_t PairIndex<Position>::memory() const {
    std::size_t total = 0;
    for (const PairShard<Position>& shard : shards_) total += shard.memory();
    return total;
}

template class PairIndex<std::uint32_t>;
template class PairIndex<std::uint64_t>;

}  // namespace prunedbpe
