#include "merges/pair_shard.hpp"

#include <iterator>

namespace prunedbpe {

template <class Position>
void PairShard<Position>::find_best(const FlatCorpus<Position>& corpus, std::size_t count, std::size_t open_from) {
    queue_.open_from(
        open_from, [&](Entry& entry) { return correct(entry, corpus); },
        [&](const Entry& entry) { __builtin_prefetch(&pairs_[entry.row]); });

    // 1. The pairs that were ready are still in order, except those that have lost occurrences.
    std::vector<Entry>& kept = scratch_;
    kept.assign(ready_.begin() + static_cast<std::ptrdiff_t>(taken_), ready_.end());
    kept.insert(kept.end(), later_.begin(), later_.end());
    ready_.clear();
    taken_ = 0;
    std::erase_if(kept, [&](const Entry& entry) {
        if (is_exact(entry)) return false;
        queue_again(entry, corpus);
        return true;
    });

    // 2. Merge them with the front of the queue.
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

template <class Position>
bool PairShard<Position>::correct(Entry& entry, const FlatCorpus<Position>& corpus) {
    if (is_exact(entry)) return true;
    IndexedPair<Position>& pair = pairs_[entry.row];
    if (pair.frequency < floor_) {
        pairs_.recycle(entry.row);
        return false;
    }
    if (!queue_.is_near(pair.frequency)) {
        queue_.push({pair.frequency, unknown_position, entry.row});  // search the list only when its bin opens
        return false;
    }
    while (!corpus.holds(pair.positions[pair.first_alive], pair.pair)) ++pair.first_alive;
    entry = {pair.frequency, pair.positions[pair.first_alive], entry.row};
    return true;
}

template <class Position>
void PairShard<Position>::correct_front(const FlatCorpus<Position>& corpus) {
    while (queue_.has_near() && !is_exact(queue_.front())) queue_again(queue_.pop(), corpus);
}

template <class Position>
void PairShard<Position>::remove(Pair pair) {
    const std::uint32_t row = pairs_.find(pair);
    release_positions(pairs_[row]);
    pairs_.erase(row);
    pairs_.recycle(row);
}

template <class Position>
void PairShard<Position>::decrease(Pair pair, std::int64_t weight) {
    const std::uint32_t row = pairs_.find(pair);
    if (row == pairs_.none) return;
    pairs_[row].frequency -= weight;
    if (pairs_[row].frequency < floor_) {
        release_positions(pairs_[row]);
        pairs_.erase(row);  // recycled when its queue entry comes up
    }
}

template <class Position>
Position* PairShard<Position>::add(Pair pair, std::int64_t frequency, Position occurrences, Position first) {
    const std::uint32_t row = pairs_.insert(pair);
    pairs_[row].frequency = frequency;
    pairs_[row].position_count = occurrences;
    pairs_[row].positions = pool_.allocate(occurrences);
    queue_.push({frequency, first, row});
    return pairs_[row].positions;
}

template class PairShard<std::uint32_t>;
template class PairShard<std::uint64_t>;

}  // namespace prunedbpe
