#include "learn/pair_index.hpp"

#include <algorithm>


namespace prunedbpe {
namespace {

// std's heaps put the largest in front, so "less" is "merges later".
bool merges_later(const QueueEntry& a, const QueueEntry& b) { return merges_before(b, a); }

/// How far below the best pair the first index reaches. The frequency of the k-th merge is about k
/// times lower than that of the first, so tens of thousands of merges need no second index.
constexpr std::int64_t first_floor_step = 1 << 15;
/// How far the next ones go down. A larger step reads the corpus less often, but keeps lists of more
/// pairs that are not merged meanwhile, and soon those of all pairs.
constexpr std::int64_t floor_step = 4;

}  // namespace

PairIndex::PairIndex(const FlatCorpus& corpus, WorkerTeam& team, std::size_t whole_below)
    : corpus_(corpus), team_(team) {
    if (corpus.slot_count() < whole_below) floor_ = least_frequency;
    if (corpus.rank_count() == byte_count) {
        index_byte_pairs();
    } else {
        index_any_pairs();
    }
}

void PairIndex::index_byte_pairs() {
    // Counting is cheap and lists are long: the corpus is read twice rather than noted once.
    std::vector<BytePairCounter> counters(team_.size());
    team_.run([&](unsigned worker) {
        BytePairCounter& counter = counters[worker];
        for_each_pair(corpus_, chunks_of(worker), [&](std::uint64_t key, Position, std::int64_t weight) {
            counter.add(key, weight);
        });
    });
    keep_frequent(counters);
    team_.run([&](unsigned worker) {
        BytePairCounter& counter = counters[worker];
        for_each_pair(corpus_, chunks_of(worker), [&](std::uint64_t key, Position at, std::int64_t) {
            CountedPair& entry = counter[key];
            if (entry.next != nullptr) *entry.next++ = at;
        });
    });
    queue_added();
}

void PairIndex::index_below() {
    // Every pair was merged or has fallen below the floor, so no list is left.
    pairs_ = PairTable();
    pool_.clear();
    floor_ = std::max(least_frequency, floor_ / floor_step);
    index_any_pairs();
}

void PairIndex::index_any_pairs() {
    std::vector<PairCounter> counters(team_.size());
    const auto count_pairs = [&](auto&& may_be_frequent) {
        team_.run([&](unsigned worker) {
            PairCounter& counter = counters[worker];
            for_each_pair(corpus_, chunks_of(worker), [&](std::uint64_t key, Position at, std::int64_t weight) {
                if (may_be_frequent(key)) counter.add(key, at, weight);
            });
        });
    };
    if (floor_ == least_frequency) {
        count_pairs([](std::uint64_t) { return true; });
    } else {
        const PairSketch sketch = sketch_pairs();
        if (floor_ == 0) floor_ = std::max(least_frequency, sketch.largest() / (floor_step * floor_step));
        count_pairs([&](std::uint64_t key) { return sketch.may_reach(key, floor_); });
    }
    keep_frequent(counters);
    team_.run([&](unsigned worker) {
        std::vector<CountedPair>& entries = counters[worker].entries();
        const auto& records = counters[worker].records();
        for (std::size_t i = 0; i < records.size(); ++i) {
            CountedPair& entry = entries[records[i].entry];
            if (entry.next != nullptr) *entry.next++ = records[i].position;
        }
    });
    queue_added();
}

PairSketch PairIndex::sketch_pairs() const {
    std::vector<PairSketch> sketches;
    for (unsigned worker = 0; worker < team_.size(); ++worker) sketches.emplace_back(corpus_.slot_count() / 4 + 2);
    team_.run([&](unsigned worker) {
        for_each_pair(corpus_, chunks_of(worker), [&](std::uint64_t key, Position, std::int64_t weight) {
            sketches[worker].add(key, weight);
        });
    });
    team_.run([&](unsigned worker) {
        const Part part = part_of(sketches[0].size(), worker, team_.size());
        for (std::size_t other = 1; other < sketches.size(); ++other) sketches[0].add(sketches[other], part);
    });
    return std::move(sketches[0]);
}

template <class Counter>
void PairIndex::keep_frequent(std::vector<Counter>& counters) {
    // 1. Sums over the workers.
    std::int64_t best = 0;
    for (Counter& counter : counters) {
        for (const CountedPair& entry : counter.entries()) {
            if (entry.occurrences == 0) continue;
            std::uint32_t pair = pairs_.find(entry.key);
            if (pair == PairTable::none) {
                pair = pairs_.insert(entry.key);
                added_.push_back(pair);
            }
            pairs_[pair].frequency += entry.weight;
            pairs_[pair].count += entry.occurrences;
            best = std::max(best, pairs_[pair].frequency);
        }
    }
    if (floor_ == 0) floor_ = std::max(least_frequency, best / first_floor_step);

    // 2. Lists of the exact size for the pairs worth keeping.
    std::erase_if(added_, [&](std::uint32_t pair) {
        if (pairs_[pair].frequency >= floor_) {
            pairs_[pair].positions = pool_.allocate(pairs_[pair].count);
            return false;
        }
        pairs_.erase(pair);
        pairs_.recycle(pair);
        return true;
    });

    // 3. Each worker will write behind those before it. `head` serves as the running total.
    for (Counter& counter : counters) {
        for (CountedPair& entry : counter.entries()) {
            if (entry.occurrences == 0) continue;
            const std::uint32_t found = pairs_.find(entry.key);
            if (found == PairTable::none) continue;
            Pair& pair = pairs_[found];
            entry.next = pair.positions + pair.head;
            pair.head += entry.occurrences;
        }
    }
    for (const std::uint32_t pair : added_) pairs_[pair].head = 0;
}

std::optional<std::uint32_t> PairIndex::pop_best() {
    while (true) {
        if (queue_.empty()) {
            if (floor_ == least_frequency) return std::nullopt;
            index_below();
            continue;
        }
        std::pop_heap(queue_.begin(), queue_.end(), merges_later);
        const QueueEntry entry = queue_.back();
        queue_.pop_back();
        Pair& pair = pairs_[entry.pair];
        if (pair.frequency < floor_) {
            pairs_.recycle(entry.pair);
        } else if (pair.frequency == entry.frequency) {
            // No occurrence was lost since the entry was made: its first position holds too.
            return entry.pair;
        } else {
            trim(pair);
            push(entry.pair);
        }
    }
}

void PairIndex::remove(std::uint32_t pair) {
    release_positions(pairs_[pair]);
    pairs_.erase(pair);
    pairs_.recycle(pair);
}

void PairIndex::decrease(std::uint64_t key, std::int64_t weight) {
    const std::uint32_t found = pairs_.find(key);
    if (found == PairTable::none) return;
    Pair& pair = pairs_[found];
    pair.frequency -= weight;
    if (pair.frequency < floor_) {
        release_positions(pair);
        pairs_.erase(found);  // recycled when its queue entry comes up
    }
}

Position* PairIndex::add(std::uint64_t key, std::int64_t frequency, std::uint32_t count) {
    if (frequency < floor_) return nullptr;
    const std::uint32_t place = pairs_.insert(key);
    Pair& pair = pairs_[place];
    pair.frequency = frequency;
    pair.count = count;
    pair.positions = pool_.allocate(count);
    added_.push_back(place);
    return pair.positions;
}

void PairIndex::queue_added() {
    for (const std::uint32_t pair : added_) push(pair);
    added_.clear();
}

void PairIndex::push(std::uint32_t pair) {
    queue_.push_back({pairs_[pair].frequency, pairs_[pair].positions[pairs_[pair].head], pair});
    std::push_heap(queue_.begin(), queue_.end(), merges_later);
}

void PairIndex::release_positions(Pair& pair) {
    pool_.release(pair.positions, pair.count);
    pair.positions = nullptr;
}

void PairIndex::trim(Pair& pair) const {
    while (!corpus_.holds(pair.positions[pair.head], pair.left(), pair.right())) ++pair.head;
}

std::size_t PairIndex::memory() const {
    return pairs_.memory() + pool_.memory() + queue_.capacity() * sizeof(QueueEntry);
}

}  // namespace prunedbpe
