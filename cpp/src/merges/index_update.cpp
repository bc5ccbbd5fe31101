#include "merges/index_update.hpp"

#include <algorithm>

namespace prunedbpe {
namespace {

/// Visits changes with two-step prefetching: pairs are far apart in memory, and the slot must arrive before the row
/// that it names can be requested.
template <class Position, class Change, class Visit>
void for_each_prefetched(std::span<const Change> changes, const PairShard<Position>& shard, Visit&& visit) {
    constexpr std::size_t slot_distance = 16, row_distance = 8;
    const std::size_t size = changes.size();
    for (std::size_t i = 0; i < std::min(slot_distance, size); ++i) shard.prefetch_slot(changes[i].pair);
    for (std::size_t i = 0; i < std::min(row_distance, size); ++i) shard.prefetch_row(changes[i].pair);
    for (std::size_t i = 0; i < size; ++i) {
        if (i + slot_distance < size) shard.prefetch_slot(changes[i + slot_distance].pair);
        if (i + row_distance < size) shard.prefetch_row(changes[i + row_distance].pair);
        visit(changes[i]);
    }
}

template <class Change>
std::span<const Change> found_before(const std::vector<Change>& changes, std::size_t scan_end) {
    const auto end = std::partition_point(changes.begin(), changes.end(),
                                          [&](const Change& change) { return change.scan < scan_end; });
    return {changes.begin(), end};
}

/// Adds a new pair of a merge that was scanned in parts, unless an earlier part has listed it too.
template <class Position>
void add_from_parts(const NewPair& found, std::span<OccurrenceScan<Position>> parts, PairShard<Position>& shard) {
    const std::int64_t least = least_part(shard.floor(), parts.size());
    const std::uint32_t neighbour = parts[found.scan].side(found.is_left)[found.sum].neighbour;
    typename NeighbourTally<Position>::Sum total{};
    for (std::size_t part = parts.size(); part-- > 0;) {
        const auto* const sum = parts[part].side(found.is_left).find(neighbour);
        if (sum == nullptr) continue;
        if (part < found.scan && sum->weight >= least) return;
        total.weight += sum->weight;
        total.occurrences += sum->occurrences;
        total.first = sum->first;
    }
    if (total.weight < shard.floor()) return;
    // The parts are in corpus order, so their consecutive pieces make an ascending list.
    Position* room = shard.add(found.pair, total.weight, total.occurrences, total.first);
    for (OccurrenceScan<Position>& part : parts) {
        auto* const sum = part.side(found.is_left).find(neighbour);
        if (sum == nullptr) continue;
        sum->room = room;
        room += sum->occurrences;
    }
}

}  // namespace

void PairChanges::clear() {
    for (auto& decreases : decreases_) decreases.clear();
    for (auto& new_pairs : new_pairs_) new_pairs.clear();
}

template <class Position>
void PairChanges::add(const ChosenMerge<Position>& merge, const OccurrenceScan<Position>& scan, std::size_t number,
                      const PairIndex<Position>& index, std::int64_t least) {
    const auto [a, b] = merge.pair();
    const std::uint32_t t = merge.merged;
    const auto decrease = [&](Pair pair, std::int64_t weight) {
        decreases_[index.shard_of(pair)].push_back({pair, weight, static_cast<std::uint32_t>(number)});
    };
    const auto add_new = [&](Pair pair, std::int64_t weight, std::size_t sum, bool is_left) {
        if (weight < least) return;
        new_pairs_[index.shard_of(pair)].push_back(
            {pair, static_cast<std::uint32_t>(sum), static_cast<std::uint16_t>(number), is_left});
    };
    const auto& left = scan.left.sums();
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::uint32_t x = left[i].neighbour;
        if (x != t) decrease({x, a}, left[i].weight);  // for "t t" it is (b, a), below
        add_new({x, t}, left[i].weight, i, true);
    }
    const auto& right = scan.right.sums();
    for (std::size_t i = 0; i < right.size(); ++i) {
        const std::uint32_t y = right[i].neighbour;
        decrease({b, y}, right[i].weight);
        add_new({t, y}, right[i].weight, i, false);
    }
    if (scan.rejoined != 0) decrease({b, a}, scan.rejoined);
}

std::span<const Decrease> PairChanges::decreases(std::size_t shard, std::size_t scan_end) const {
    return found_before(decreases_[shard], scan_end);
}

std::span<const NewPair> PairChanges::new_pairs(std::size_t shard, std::size_t scan_end) const {
    return found_before(new_pairs_[shard], scan_end);
}

std::size_t PairChanges::memory() const {
    std::size_t bytes = 0;
    for (const auto& decreases : decreases_) bytes += decreases.capacity() * sizeof(Decrease);
    for (const auto& new_pairs : new_pairs_) bytes += new_pairs.capacity() * sizeof(NewPair);
    return bytes;
}

template <class Position>
void update_shard(std::span<const ChosenMerge<Position>> merges, std::span<OccurrenceScan<Position>> scans,
                  std::span<const PairChanges> changes, PairIndex<Position>& index, unsigned number) {
    PairShard<Position>& shard = index.shard(number);
    const bool is_split = scans.size() > merges.size();

    // 1. Remove the merged pairs and lower the frequencies of their neighbours.
    const auto is_here = [&](const ChosenMerge<Position>& merge) { return index.shard_of(merge.pair()) == number; };
    for (const ChosenMerge<Position>& merge : merges) {
        if (is_here(merge)) shard.prefetch_slot(merge.pair());
    }
    for (const ChosenMerge<Position>& merge : merges) {
        if (is_here(merge)) shard.remove(merge.pair());
    }
    for (const PairChanges& found : changes) {
        for_each_prefetched(found.decreases(number, scans.size()), shard,
                            [&](const Decrease& lost) { shard.decrease(lost.pair, lost.weight); });
    }

    // 2. Add the new pairs that reach the floor, each with a list of the exact size.
    for (const PairChanges& found : changes) {
        for_each_prefetched(found.new_pairs(number, scans.size()), shard, [&](const NewPair& added) {
            if (is_split) {
                add_from_parts(added, scans, shard);
            } else {
                auto& sum = scans[added.scan].side(added.is_left)[added.sum];
                sum.room = shard.add(added.pair, sum.weight, sum.occurrences, sum.first);
            }
        });
    }
}

template void PairChanges::add(const ChosenMerge<std::uint32_t>&, const OccurrenceScan<std::uint32_t>&, std::size_t,
                               const PairIndex<std::uint32_t>&, std::int64_t);
template void update_shard(std::span<const ChosenMerge<std::uint32_t>>, std::span<OccurrenceScan<std::uint32_t>>,
                           std::span<const PairChanges>, PairIndex<std::uint32_t>&, unsigned);
template void PairChanges::add(const ChosenMerge<std::uint64_t>&, const OccurrenceScan<std::uint64_t>&, std::size_t,
                               const PairIndex<std::uint64_t>&, std::int64_t);
template void update_shard(std::span<const ChosenMerge<std::uint64_t>>, std::span<OccurrenceScan<std::uint64_t>>,
                           std::span<const PairChanges>, PairIndex<std::uint64_t>&, unsigned);

}  // namespace prunedbpe
