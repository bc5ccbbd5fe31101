#include "baselines/picky_pairs.hpp"

#include <algorithm>

namespace prunedbpe::picky {

void PickyPairs::add(PairName name, Position at, std::int64_t weight) {
    Pair& pair = pairs_[name.key()];
    pair.frequency += weight;
    if (!pair.positions.empty() && at <= pair.positions.back()) pair.sorted = false;
    pair.positions.push_back(at);
    pair.least = std::min(pair.least, at);
    if (!pair.risen) {
        pair.risen = true;
        risen_.push_back(name.key());
    }
}

void PickyPairs::remove(PairName name, std::int64_t weight) {
    const auto found = pairs_.find(name.key());
    if (found == pairs_.end()) return;  // of the pair being merged, already taken out
    found->second.frequency -= weight;
    // Pairs in `risen_` are dropped by `settle`, which still looks at them.
    if (found->second.frequency == 0 && !found->second.risen) pairs_.erase(found);
}

void PickyPairs::settle() {
    for (const std::uint64_t key : risen_) {
        const auto found = pairs_.find(key);
        if (found == pairs_.end()) continue;
        Pair& pair = found->second;
        pair.risen = false;
        if (pair.frequency == 0) {
            pairs_.erase(found);
        } else if (pair.frequency >= 2) {
            push(key, pair, pair.least);
        }
    }
    risen_.clear();
}

void PickyPairs::push(std::uint64_t key, Pair& pair, Position first) {
    pair.stamp = ++stamps_;
    queue_.push_back({pair.frequency, first, pair.stamp, key});
    std::push_heap(queue_.begin(), queue_.end());
}

Position PickyPairs::first_position(PairName name, Pair& pair) const {
    if (!pair.sorted) {
        std::sort(pair.positions.begin(), pair.positions.end());
        pair.positions.erase(std::unique(pair.positions.begin(), pair.positions.end()), pair.positions.end());
        pair.sorted = true;
        pair.head = 0;
    }
    while (!corpus_.holds(pair.positions[pair.head], name.left, name.right)) ++pair.head;
    return pair.least = pair.positions[pair.head];
}

std::optional<BestPair> PickyPairs::take_best() {
    while (!queue_.empty()) {
        std::pop_heap(queue_.begin(), queue_.end());
        const Entry entry = queue_.back();
        queue_.pop_back();
        const auto found = pairs_.find(entry.key);
        if (found == pairs_.end() || found->second.stamp != entry.stamp) continue;
        Pair& pair = found->second;
        if (pair.frequency < 2) continue;  // it comes back when its frequency rises
        const PairName name = name_of(entry.key);
        const Position first = first_position(name, pair);
        if (pair.frequency != entry.frequency || first != entry.first) {
            push(entry.key, pair, first);
            continue;
        }
        BestPair best{name, pair.frequency, std::move(pair.positions)};
        best.positions.erase(best.positions.begin(), best.positions.begin() + pair.head);
        pairs_.erase(found);
        return best;
    }
    return std::nullopt;
}

}  // namespace prunedbpe::picky
