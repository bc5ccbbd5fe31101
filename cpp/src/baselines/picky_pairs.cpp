#include "baselines/picky_pairs.hpp"

#include <algorithm>

namespace prunedbpe::picky {

void PickyPairs::add(Pair pair, Position at, std::int64_t weight) {
    Occurrences& found = pairs_[pair];
    found.frequency += weight;
    if (!found.positions.empty() && at <= found.positions.back()) found.sorted = false;
    found.positions.push_back(at);
    found.least = std::min(found.least, at);
    if (!found.risen) {
        found.risen = true;
        risen_.push_back(pair);
    }
}

void PickyPairs::remove(Pair pair, std::int64_t weight) {
    const auto found = pairs_.find(pair);
    if (found == pairs_.end()) return;  // the pair being merged was taken out before
    found->second.frequency -= weight;
    // Pairs in `risen_` are erased by `queue_risen`, which still looks at them.
    if (found->second.frequency == 0 && !found->second.risen) pairs_.erase(found);
}

void PickyPairs::queue_risen() {
    for (const Pair pair : risen_) {
        const auto found = pairs_.find(pair);
        if (found == pairs_.end()) continue;
        Occurrences& occurrences = found->second;
        occurrences.risen = false;
        if (occurrences.frequency == 0) {
            pairs_.erase(found);
        } else if (occurrences.frequency >= 2) {
            push(pair, occurrences, occurrences.least);
        }
    }
    risen_.clear();
}

void PickyPairs::push(Pair pair, Occurrences& found, Position first) {
    found.stamp = ++stamps_;
    queue_.push_back({found.frequency, first, found.stamp, pair});
    std::push_heap(queue_.begin(), queue_.end());
}

Position PickyPairs::first_position(Pair pair, Occurrences& found) const {
    if (!found.sorted) {
        std::sort(found.positions.begin(), found.positions.end());
        found.positions.erase(std::unique(found.positions.begin(), found.positions.end()), found.positions.end());
        found.sorted = true;
        found.first_alive = 0;
    }
    while (!corpus_.holds(found.positions[found.first_alive], pair)) ++found.first_alive;
    return found.least = found.positions[found.first_alive];
}

std::optional<BestPair> PickyPairs::take_best() {
    while (!queue_.empty()) {
        std::pop_heap(queue_.begin(), queue_.end());
        const Entry entry = queue_.back();
        queue_.pop_back();
        const auto found = pairs_.find(entry.pair);
        if (found == pairs_.end() || found->second.stamp != entry.stamp) continue;
        Occurrences& occurrences = found->second;
        if (occurrences.frequency < 2) continue;  // queued again when its frequency rises
        const Position first = first_position(entry.pair, occurrences);
        if (occurrences.frequency != entry.frequency || first != entry.first) {
            push(entry.pair, occurrences, first);
            continue;
        }
        BestPair best{entry.pair, std::move(occurrences.positions)};
        pairs_.erase(found);
        return best;
    }
    return std::nullopt;
}

}  // namespace prunedbpe::picky
