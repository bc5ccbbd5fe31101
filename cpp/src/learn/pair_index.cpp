#include "learn/pair_index.hpp"

#include <algorithm>

namespace prunedbpe {
namespace {

// std's heaps put the largest in front, so "less" is "merges later".
bool merges_later(const QueueEntry& a, const QueueEntry& b) { return merges_before(b, a); }

/// Pairs of one worker's part of the corpus while the index is built.
class PairCounter {
public:
    struct Entry {
        std::uint64_t key = 0;
        std::int64_t weight = 0;
        std::uint32_t occurrences = 0;  // 0: empty
        Position* next = nullptr;       // where this worker writes its next occurrence
    };

    PairCounter() : entries_(1 << 12) {}

    Entry& find(std::uint64_t key) {
        std::size_t at = hash_key(key) & (entries_.size() - 1);
        while (entries_[at].occurrences != 0 && entries_[at].key != key) at = (at + 1) & (entries_.size() - 1);
        return entries_[at];
    }

    void add(std::uint64_t key, std::int64_t weight) {
        Entry* entry = &find(key);
        if (entry->occurrences == 0) {
            if (++used_ * 2 > entries_.size()) {
                grow();
                entry = &find(key);
            }
            entry->key = key;
        }
        entry->weight += weight;
        ++entry->occurrences;
    }

    std::vector<Entry>& entries() { return entries_; }

private:
    void grow() {
        std::vector<Entry> old(entries_.size() * 2);
        std::swap(old, entries_);
        for (const Entry& entry : old) {
            if (entry.occurrences != 0) find(entry.key) = entry;
        }
    }

    std::vector<Entry> entries_;
    std::size_t used_ = 0;
};

template <class Visit>
void for_each_pair(const FlatCorpus& corpus, Part chunks, Visit&& visit) {
    for (std::size_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
        const std::int64_t weight = corpus.chunk_weight(chunk);
        Position at = corpus.chunk_begin(chunk);
        const Position end = corpus.chunk_end(chunk);
        std::uint32_t left = corpus.rank_at(at);
        for (Position next = at + corpus.length(left); next < end;) {
            const std::uint32_t right = corpus.rank_at(next);
            visit(pair_key(left, right), at, weight);
            at = next;
            left = right;
            next += corpus.length(right);
        }
    }
}

}  // namespace

PairIndex::PairIndex(const FlatCorpus& corpus, WorkerTeam& team) : corpus_(corpus) {
    // 1. Each worker counts the pairs of its run of chunks.
    std::vector<PairCounter> counters(team.size());
    const auto chunks_of = [&](unsigned worker) { return corpus.chunk_part(worker, team.size()); };
    team.run([&](unsigned worker) {
        PairCounter& counter = counters[worker];
        for_each_pair(corpus, chunks_of(worker), [&](std::uint64_t key, Position, std::int64_t weight) {
            counter.add(key, weight);
        });
    });

    // 2. Sums over the workers.
    for (PairCounter& counter : counters) {
        for (const PairCounter::Entry& entry : counter.entries()) {
            if (entry.occurrences == 0) continue;
            std::uint32_t pair = pairs_.find(entry.key);
            if (pair == PairTable::none) {
                pair = pairs_.insert(entry.key);
                added_.push_back(pair);
            }
            pairs_[pair].frequency += entry.weight;
            pairs_[pair].count += entry.occurrences;
        }
    }

    // 3. Lists of the exact size for the pairs worth keeping.
    std::erase_if(added_, [&](std::uint32_t pair) {
        if (pairs_[pair].frequency >= least_frequency) {
            pairs_[pair].positions = pool_.allocate(pairs_[pair].count);
            return false;
        }
        pairs_.erase(pair);
        pairs_.recycle(pair);
        return true;
    });

    // 4. Each worker writes its occurrences behind those of the workers before it. `head` serves as
    //    the running total and ends where it started.
    for (PairCounter& counter : counters) {
        for (PairCounter::Entry& entry : counter.entries()) {
            if (entry.occurrences == 0) continue;
            const std::uint32_t found = pairs_.find(entry.key);
            if (found == PairTable::none) continue;
            Pair& pair = pairs_[found];
            entry.next = pair.positions + pair.head;
            pair.head += entry.occurrences;
        }
    }
    team.run([&](unsigned worker) {
        PairCounter& counter = counters[worker];
        for_each_pair(corpus, chunks_of(worker), [&](std::uint64_t key, Position at, std::int64_t) {
            PairCounter::Entry& entry = counter.find(key);
            if (entry.next != nullptr) *entry.next++ = at;
        });
    });
    for (const std::uint32_t pair : added_) pairs_[pair].head = 0;
    queue_added();
}

std::optional<std::uint32_t> PairIndex::pop_best() {
    while (!queue_.empty()) {
        std::pop_heap(queue_.begin(), queue_.end(), merges_later);
        const QueueEntry entry = queue_.back();
        queue_.pop_back();
        Pair& pair = pairs_[entry.pair];
        if (pair.frequency < least_frequency) {
            pairs_.recycle(entry.pair);
        } else if (pair.frequency == entry.frequency) {
            // No occurrence was lost since the entry was made: its first position holds too.
            return entry.pair;
        } else {
            trim(pair);
            push(entry.pair);
        }
    }
    return std::nullopt;
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
    if (pair.frequency < least_frequency) {
        release_positions(pair);
        pairs_.erase(found);  // recycled when its queue entry comes up
    }
}

Position* PairIndex::add(std::uint64_t key, std::int64_t frequency, std::uint32_t count) {
    if (frequency < least_frequency) return nullptr;
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
