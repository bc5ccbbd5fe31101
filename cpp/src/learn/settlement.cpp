#include "learn/settlement.hpp"

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

}  // namespace

void Outbox::clear() {
    for (auto& losses : losses_) losses.clear();
    for (auto& gains : gains_) gains.clear();
}

void Outbox::add(const Replacement& merge, const Findings& found, std::size_t place, const PairIndex& index,
                 bool is_whole) {
    const std::uint32_t a = merge.pair.left(), b = merge.pair.right(), t = merge.merged;
    const auto here = static_cast<std::uint32_t>(place);
    const std::int64_t least = is_whole ? index.floor() : 0;
    const auto lose = [&](std::uint64_t key, std::int64_t weight) {
        losses_[index.shard_of(key)].push_back({key, weight, here});
    };
    const auto gain = [&](std::uint64_t key, const NeighbourTally::Sum& sum, std::size_t i, bool on_the_left) {
        if (sum.weight < least) return;
        gains_[index.shard_of(key)].push_back({.key = key,
                                               .weight = sum.weight,
                                               .place = here,
                                               .sum = static_cast<std::uint32_t>(i),
                                               .occurrences = sum.occurrences,
                                               .first = sum.first,
                                               .on_the_left = on_the_left});
    };
    const auto& left = found.left.sums();
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::uint32_t x = left[i].neighbour;
        if (x != t) lose(pair_key(x, a), left[i].weight);  // no pair that is lost holds t: it is new
        gain(pair_key(x, t), left[i], i, true);
    }
    const auto& right = found.right.sums();
    for (std::size_t i = 0; i < right.size(); ++i) {
        const std::uint32_t y = right[i].neighbour;
        lose(pair_key(b, y), right[i].weight);
        gain(pair_key(t, y), right[i], i, false);
    }
    if (found.rejoined != 0) lose(pair_key(b, a), found.rejoined);
}

std::span<const Loss> Outbox::losses(std::size_t shard, std::size_t end) const {
    return std::span(losses_[shard]).first(count_before(losses_[shard], end));
}

std::span<Gain> Outbox::gains(std::size_t shard, std::size_t end) {
    return std::span(gains_[shard]).first(count_before(gains_[shard], end));
}

void Outbox::hand_out_rooms(std::span<Findings> findings, std::size_t end) {
    for (std::size_t shard = 0; shard < gains_.size(); ++shard) {
        for (const Gain& gain : gains(shard, end)) {
            Findings& found = findings[gain.place];
            (gain.on_the_left ? found.left : found.right).set_room(gain.sum, gain.room);
        }
    }
}

std::size_t Outbox::memory() const {
    std::size_t bytes = 0;
    for (const auto& losses : losses_) bytes += losses.capacity() * sizeof(Loss);
    for (const auto& gains : gains_) bytes += gains.capacity() * sizeof(Gain);
    return bytes;
}

void Settlement::settle(std::span<const Finished> merges, std::span<Outbox> outboxes, PairIndex& index, unsigned place) {
    PairShard& shard = index.shard(place);
    const std::size_t end = end_of_places(merges);

    // 1. Merged pairs are no more, and others are rarer.
    for (const Finished& finished : merges) {
        const std::uint64_t key = finished.merge.pair.key;
        if (index.shard_of(key) == place) shard.remove(key);
    }
    for (const Outbox& outbox : outboxes) {
        for_each_ahead(outbox.losses(place, end), shard,
                       [&](const Loss& loss) { shard.decrease(loss.key, loss.weight); });
    }

    // 2. A list of the exact size for every new pair that occurs often enough to matter.
    if (merges[0].count > 1) {
        add_shared(outboxes, end, shard, place);
        return;
    }
    for (Outbox& outbox : outboxes) {
        for (Gain& gain : outbox.gains(place, end)) {
            gain.room = shard.add(gain.key, gain.weight, gain.occurrences, gain.first);
        }
    }
}

void Settlement::add_shared(std::span<Outbox> outboxes, std::size_t end, PairShard& shard, unsigned place) {
    wholes_.clear();
    for (Outbox& outbox : outboxes) {
        for (Gain& share : outbox.gains(place, end)) {
            std::uint32_t& found = whole_of(share);
            if (found == 0) {
                wholes_.push_back(share);
                found = static_cast<std::uint32_t>(wholes_.size());
            } else {
                wholes_[found - 1].weight += share.weight;
                wholes_[found - 1].occurrences += share.occurrences;
            }
            share.whole = found - 1;
        }
    }
    for (Gain& whole : wholes_) {
        whole_of(whole) = 0;
        if (whole.weight < shard.floor()) continue;
        whole.room = shard.add(whole.key, whole.weight, whole.occurrences, whole.first);
    }
    // Workers write one behind the other, in the order of their parts.
    for (Outbox& outbox : outboxes) {
        for (Gain& share : outbox.gains(place, end)) {
            Position*& room = wholes_[share.whole].room;
            share.room = room;
            if (room != nullptr) room += share.occurrences;
        }
    }
}

std::uint32_t& Settlement::whole_of(const Gain& share) {
    std::vector<std::uint32_t>& places = share.on_the_left ? left_ : right_;
    const std::size_t neighbour = share.on_the_left ? share.key >> 32 : share.key & 0xFFFFFFFF;
    if (places.size() <= neighbour) places.resize(neighbour + neighbour / 2 + 1);
    return places[neighbour];
}

}  // namespace prunedbpe
