#include "merges/pair_shard.hpp"

#include <iterator>

namespace prunedbpe {

void PairShard::find_best(const FlatCorpus& corpus, std::size_t count, std::size_t open_from) {
    queue_.open_from(
        open_from, [&](QueueEntry& entry) { return correct(entry, corpus); },
        [&](const QueueEntry& entry) { __builtin_prefetch(&pairs_[entry.pair]); });

    // 1. What was ready before and not merged still is in order, but for the pairs that have lost occurrences.
    std::vector<QueueEntry>& kept = kept_;
    kept.assign(ready_.begin() + static_cast<std::ptrdiff_t>(taken_), ready_.end());
    kept.insert(kept.end(), later_.begin(), later_.end());
    ready_.clear();
    taken_ = 0;
    std::erase_if(kept, [&](const QueueEntry& entry) {
        if (is_exact(entry)) return false;
        queue_again(entry, corpus);
        return true;
    });

    // 2. The next ones, of them or of the queue.
    auto next = kept.begin();
    correct_front(corpus);
    while (ready_.size() < count && (next != kept.end() || queue_.has_near())) {
        if (next != kept.end() && (!queue_.has_near() || merges_before(*next, queue_.front()))) {
            ready_.push_back(*next++);
        } else {
            ready_.push_back(queue_.pop());
            correct_front(corpus);
        }
    }
    later_.assign(next, kept.end());
}

bool PairShard::correct(QueueEntry& entry, const FlatCorpus& corpus) {
    if (is_exact(entry)) return true;
    Pair& pair = pairs_[entry.pair];
    if (pair.frequency < floor_) {
        pairs_.recycle(entry.pair);
        return false;
    }
    if (!queue_.is_near(pair.frequency)) {
        queue_.push({pair.frequency, unknown_position, entry.pair});  // to be looked for when its turn is near
        return false;
    }
    // Move the head to the first occurrence that still stands.
    while (!corpus.holds(pair.positions[pair.head], pair.left(), pair.right())) ++pair.head;
    entry = {pair.frequency, pair.positions[pair.head], entry.pair};
    return true;
}

void PairShard::correct_front(const FlatCorpus& corpus) {
    while (queue_.has_near() && !is_exact(queue_.front())) queue_again(queue_.pop(), corpus);
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
    queue_.push({frequency, first, place});
    return pair.positions;
}

}  // namespace prunedbpe
