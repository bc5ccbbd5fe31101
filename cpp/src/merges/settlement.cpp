#include "merges/settlement.hpp"

#include <algorithm>

namespace prunedbpe {
namespace {

/// Visits elements, each announced twice before its turn: pairs are far apart in memory, and a pair's
/// slot must be there before the pair itself can be asked for.
template <class Element, class Visit>
void for_each_ahead(std::span<const Element> elements, const PairShard& shard, Visit&& visit) {
    constexpr std::size_t slot_ahead = 16, pair_ahead = 8;
    const std::size_t size = elements.size();
    for (std::size_t i = 0; i < std::min(slot_ahead, size); ++i) shard.prefetch_slot(elements[i].key);
    for (std::size_t i = 0; i < std::min(pair_ahead, size); ++i) shard.prefetch_pair(elements[i].key);
    for (std::size_t i = 0; i < size; ++i) {
        if (i + slot_ahead < size) shard.prefetch_slot(elements[i + slot_ahead].key);
        if (i + pair_ahead < size) shard.prefetch_pair(elements[i + pair_ahead].key);
        visit(elements[i]);
    }
}

template <class Change>
std::size_t count_before(const std::vector<Change>& changes, std::size_t end) {
    const auto border = std::partition_point(changes.begin(), changes.end(),
                                             [&](const Change& change) { return change.place < end; });
    return static_cast<std::size_t>(border - changes.begin());
}

/// Adds a new pair of a merge that was split, unless a share of another part that is noted, too, comes before this one.
void add_shared(const Gain& gain, std::span<Findings> parts, PairShard& shard) {
    const std::int64_t least = least_gain(shard.floor(), parts.size());
    const std::uint32_t neighbour = parts[gain.place].side(gain.on_the_left)[gain.sum].neighbour;
    NeighbourTally::Sum whole{};
    for (std::size_t part = parts.size(); part-- > 0;) {
        const NeighbourTally::Sum* const share = parts[part].side(gain.on_the_left).find(neighbour);
        if (share == nullptr) continue;
        if (part < gain.place && share->weight >= least) return;
        whole.weight += share->weight;
        whole.occurrences += share->occurrences;
        whole.first = share->first;
    }
    if (whole.weight < shard.floor()) return;
    // Workers write one behind the other, in the order of their parts.
    Position* room = shard.add(gain.key, whole.weight, whole.occurrences, whole.first);
    for (Findings& part : parts) {
        NeighbourTally::Sum* const share = part.side(gain.on_the_left).find(neighbour);
        if (share == nullptr) continue;
        share->room = room;
        room += share->occurrences;
    }
}

}  // namespace

void Outbox::clear() {
    for (auto& losses : losses_) losses.clear();
    for (auto& gains : gains_) gains.clear();
}

void Outbox::add(const Replacement& merge, const Findings& found, std::size_t place, const PairIndex& index,
                 std::int64_t least_gain) {
    const std::uint32_t a = merge.pair.left(), b = merge.pair.right(), t = merge.merged;
    const auto lose = [&](std::uint64_t key, std::int64_t weight) {
        losses_[index.shard_of(key)].push_back({key, weight, static_cast<std::uint32_t>(place)});
    };
    const auto gain = [&](std::uint64_t key, std::int64_t weight, std::size_t sum, bool on_the_left) {
        if (weight < least_gain) return;
        gains_[index.shard_of(key)].push_back(
            {key, static_cast<std::uint32_t>(sum), static_cast<std::uint16_t>(place), on_the_left});
    };
    const auto& left = found.left.sums();
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::uint32_t x = left[i].neighbour;
        if (x != t) lose(pair_key(x, a), left[i].weight);  // no pair that is lost holds t: it is new
        gain(pair_key(x, t), left[i].weight, i, true);
    }
    const auto& right = found.right.sums();
    for (std::size_t i = 0; i < right.size(); ++i) {
        const std::uint32_t y = right[i].neighbour;
        lose(pair_key(b, y), right[i].weight);
        gain(pair_key(t, y), right[i].weight, i, false);
    }
    if (found.rejoined != 0) lose(pair_key(b, a), found.rejoined);
}

std::span<const Loss> Outbox::losses(std::size_t shard, std::size_t end) const {
    return std::span(losses_[shard]).first(count_before(losses_[shard], end));
}

std::span<const Gain> Outbox::gains(std::size_t shard, std::size_t end) const {
    return std::span(gains_[shard]).first(count_before(gains_[shard], end));
}

std::size_t Outbox::memory() const {
    std::size_t bytes = 0;
    for (const auto& losses : losses_) bytes += losses.capacity() * sizeof(Loss);
    for (const auto& gains : gains_) bytes += gains.capacity() * sizeof(Gain);
    return bytes;
}

void settle(std::span<const Finished> merges, std::span<const Outbox> outboxes, std::span<Findings> findings,
            PairIndex& index, unsigned place) {
    PairShard& shard = index.shard(place);
    const std::size_t end = end_of_places(merges);
    const bool is_split = merges[0].count > 1;

    // 1. Merged pairs are no more, and others are rarer.
    const auto is_here = [&](const Finished& one) { return index.shard_of(one.merge.pair.key) == place; };
    for (const Finished& one : merges) {
        if (is_here(one)) shard.prefetch_slot(one.merge.pair.key);
    }
    for (const Finished& one : merges) {
        if (is_here(one)) shard.remove(one.merge.pair.key);
    }
    for (const Outbox& outbox : outboxes) {
        for_each_ahead(outbox.losses(place, end), shard,
                       [&](const Loss& loss) { shard.decrease(loss.key, loss.weight); });
    }

    // 2. A list of the exact size for every new pair that occurs often enough to matter.
    for (const Outbox& outbox : outboxes) {
        for_each_ahead(outbox.gains(place, end), shard, [&](const Gain& gain) {
            if (is_split) {
                add_shared(gain, findings.first(end), shard);
            } else {
                NeighbourTally::Sum& sum = findings[gain.place].side(gain.on_the_left)[gain.sum];
                sum.room = shard.add(gain.key, sum.weight, sum.occurrences, sum.first);
            }
        });
    }
}

}  // namespace prunedbpe
