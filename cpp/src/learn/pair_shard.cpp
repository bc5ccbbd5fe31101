#include "learn/pair_shard.hpp"

namespace prunedbpe {

void PairShard::find_best(const FlatCorpus& corpus) {
    while (!queue_.empty()) {
        const QueueEntry entry = queue_.front();
        Pair& pair = pairs_[entry.pair];
        // No occurrence was lost since the entry was made: its first position holds too.
        if (pair.frequency == entry.frequency) return;
        std::pop_heap(queue_.begin(), queue_.end(), merges_later);
        if (pair.frequency < floor_) {
            pairs_.recycle(entry.pair);
            queue_.pop_back();
            continue;
        }
        // Move the head to the first occurrence that still stands.
        while (!corpus.holds(pair.positions[pair.head], pair.left(), pair.right())) ++pair.head;
        queue_.back() = {pair.frequency, pair.positions[pair.head], entry.pair};
        std::push_heap(queue_.begin(), queue_.end(), merges_later);
    }
}

void PairShard::remove(std::uint64_t key) {
    const std::uint32_t pair = pairs_.find(key);
    release_positions(pairs_[pair]);
    pairs_.erase(pair);
    pairs_.recycle(pair);
}

void PairShard::decrease(std::uint64_t key, std::int64_t weight) {
    const std::uint32_t found = pairs_.find(key);
    if (found == PairTable::none) return;
    Pair& pair = pairs_[found];
    pair.frequency -= weight;
    if (pair.frequency < floor_) {
        release_positions(pair);
        pairs_.erase(found);  // recycled when its queue entry comes up
    }
}

Position* PairShard::add(std::uint64_t key, std::int64_t frequency, std::uint32_t count, Position first) {
    const std::uint32_t place = pairs_.insert(key);
    Pair& pair = pairs_[place];
    pair.frequency = frequency;
    pair.count = count;
    pair.positions = pool_.allocate(count);
    queue_.push_back({frequency, first, place});
    std::push_heap(queue_.begin(), queue_.end(), merges_later);
    return pair.positions;
}

}  // namespace prunedbpe
