#include "learn/pair_shard.hpp"

#include <iterator>

namespace prunedbpe {

void PairShard::find_best(const FlatCorpus& corpus, std::size_t count) {
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
    while (ready_.size() < count && !(next == kept.end() && queue_.empty())) {
        if (next != kept.end() && (queue_.empty() || merges_before(*next, queue_.front()))) {
            ready_.push_back(*next++);
        } else {
            ready_.push_back(pop_queue());
            correct_front(corpus);
        }
    }
    later_.assign(next, kept.end());
}

void PairShard::queue_again(const QueueEntry& entry, const FlatCorpus& corpus) {
    Pair& pair = pairs_[entry.pair];
    if (pair.frequency < floor_) {
        pairs_.recycle(entry.pair);
        return;
    }
    if (pair.frequency < queued_from_) {
        rare_.push_back({pair.frequency, unknown_position, entry.pair});  // to be looked for when its turn is near
        return;
    }
    // Move the head to the first occurrence that still stands.
    while (!corpus.holds(pair.positions[pair.head], pair.left(), pair.right())) ++pair.head;
    push({pair.frequency, pair.positions[pair.head], entry.pair});
}

void PairShard::correct_front(const FlatCorpus& corpus) {
    while (true) {
        while (!queue_.empty() && !is_exact(queue_.front())) queue_again(pop_queue(), corpus);
        if (!queue_.empty() || rare_.empty()) return;
        queue_more();
    }
}

void PairShard::queue_more() {
    // A quarter of a second-level cache; of very many pairs more, because each time all are looked at.
    const std::ptrdiff_t enough = std::max<std::ptrdiff_t>(1 << 13, std::ssize(rare_) / 64);
    const auto is_rarer = [](const QueueEntry& a, const QueueEntry& b) { return a.frequency < b.frequency; };
    const auto border = rare_.end() - std::min(enough, std::ssize(rare_));
    std::nth_element(rare_.begin(), border, rare_.end(), is_rarer);
    const std::int64_t largest = std::max_element(border, rare_.end(), is_rarer)->frequency;
    // Room is left for pairs to come. Those of one frequency are queued together, or not yet.
    queued_from_ = std::min(largest, std::max(border->frequency + 1, largest / 2));
    const auto first = std::partition(rare_.begin(), rare_.end(),
                                      [&](const QueueEntry& entry) { return entry.frequency < queued_from_; });
    queue_.assign(first, rare_.end());
    rare_.erase(first, rare_.end());
    std::make_heap(queue_.begin(), queue_.end(), merges_later);
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
    push({frequency, first, place});
    return pair.positions;
}

}  // namespace prunedbpe
