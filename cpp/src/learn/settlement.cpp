#include "learn/settlement.hpp"

#include <algorithm>

namespace prunedbpe {
namespace {

/// Visits elements, each announced twice before its turn: pairs are far apart in memory, and a pair's
/// slot must be there before the pair itself can be asked for.
template <class Element, class ShardOf, class Visit>
void for_each_ahead(const std::vector<Element>& elements, ShardOf&& shard_of, Visit&& visit) {
    constexpr std::size_t slot_ahead = 16, pair_ahead = 8;
    const std::size_t size = elements.size();
    const auto prefetch_slot = [&](std::uint64_t key) { shard_of(key)->prefetch_slot(key); };
    const auto prefetch_pair = [&](std::uint64_t key) { shard_of(key)->prefetch_pair(key); };
    for (std::size_t i = 0; i < std::min(slot_ahead, size); ++i) prefetch_slot(elements[i].key);
    for (std::size_t i = 0; i < std::min(pair_ahead, size); ++i) prefetch_pair(elements[i].key);
    for (std::size_t i = 0; i < size; ++i) {
        if (i + slot_ahead < size) prefetch_slot(elements[i + slot_ahead].key);
        if (i + pair_ahead < size) prefetch_pair(elements[i + pair_ahead].key);
        visit(elements[i]);
    }
}

}  // namespace

void Settlement::settle(const Replacement& merge, std::span<const Findings> findings, PairIndex& index,
                        unsigned place) {
    settle_where(merge, findings, [&](std::uint64_t key) {
        return index.shard_of(key) == place ? &index.shard(place) : nullptr;
    });
}

void Settlement::settle_alone(const Replacement& merge, const Findings& findings, PairIndex& index) {
    settle_where(merge, {&findings, 1}, [&](std::uint64_t key) { return &index.shard(index.shard_of(key)); });
}

void Settlement::hand_out_rooms(unsigned part, Findings& findings) {
    for (const Room& room : rooms_[part]) {
        (room.on_the_left ? findings.left : findings.right).set_room(room.sum, room.room);
    }
    rooms_[part].clear();
}

/// `shard_of` tells the shard of a key, or nullptr if it is not to be settled here.
template <class ShardOf>
void Settlement::settle_where(const Replacement& merge, std::span<const Findings> findings, ShardOf&& shard_of) {
    const std::uint32_t a = merge.pair.left(), b = merge.pair.right(), t = merge.merged;
    losses_.clear();
    gains_.clear();
    shares_.clear();

    // 1. Which pairs have lost or gained occurrences. No pair that is lost holds t, so none is new.
    for (std::uint32_t part = 0; part < findings.size(); ++part) {
        const auto lose = [&](std::uint64_t key, std::int64_t weight) {
            if (shard_of(key) != nullptr) losses_.push_back({key, weight});
        };
        const auto gain = [&](std::uint64_t key, const std::vector<NeighbourTally::Sum>& sums, std::size_t i,
                              bool on_the_left) {
            if (shard_of(key) == nullptr) return;
            auto place = static_cast<std::uint32_t>(gains_.size());
            if (findings.size() > 1) {
                place = gain_of(key, sums[i], on_the_left ? left_ : right_);
            } else {
                gains_.push_back({key, sums[i].weight, sums[i].occurrences, sums[i].first, nullptr});
            }
            shares_.push_back({place, part, static_cast<std::uint32_t>(i), sums[i].occurrences, on_the_left});
        };
        const auto& left = findings[part].left.sums();
        for (std::size_t i = 0; i < left.size(); ++i) {
            const std::uint32_t x = left[i].neighbour;
            if (x != t) lose(pair_key(x, a), left[i].weight);
            gain(pair_key(x, t), left, i, true);
        }
        const auto& right = findings[part].right.sums();
        for (std::size_t i = 0; i < right.size(); ++i) {
            const std::uint32_t y = right[i].neighbour;
            lose(pair_key(b, y), right[i].weight);
            gain(pair_key(t, y), right, i, false);
        }
        if (findings[part].rejoined != 0) lose(pair_key(b, a), findings[part].rejoined);
    }

    // 2. The merged pair is no more, and others are rarer.
    if (PairShard* const shard = shard_of(merge.pair.key)) shard->remove(merge.pair.key);
    for_each_ahead(losses_, shard_of,
                   [&](const Loss& loss) { shard_of(loss.key)->decrease(loss.key, loss.weight); });

    // 3. A list of the exact size for every new pair that occurs often enough to matter, and room in it
    // for every part, in their order.
    for (Gain& gain : gains_) {
        PairShard& shard = *shard_of(gain.key);
        if (gain.weight >= shard.floor()) gain.room = shard.add(gain.key, gain.weight, gain.count, gain.first);
    }
    for (const Share& share : shares_) {
        Gain& gain = gains_[share.gain];
        if (findings.size() > 1) {
            const Findings& found = findings[share.part];
            const auto& sums = (share.on_the_left ? found.left : found.right).sums();
            (share.on_the_left ? left_ : right_)[sums[share.sum].neighbour] = 0;
        }
        if (gain.room == nullptr) continue;
        rooms_[share.part].push_back({gain.room, share.sum, share.on_the_left});
        gain.room += share.occurrences;
    }
}

std::uint32_t Settlement::gain_of(std::uint64_t key, const NeighbourTally::Sum& sum,
                                  std::vector<std::uint32_t>& places) {
    if (places.size() <= sum.neighbour) places.resize(sum.neighbour + sum.neighbour / 2 + 1);
    std::uint32_t& place = places[sum.neighbour];
    if (place == 0) {
        gains_.push_back({key, 0, 0, sum.first, nullptr});
        place = static_cast<std::uint32_t>(gains_.size());
    }
    gains_[place - 1].weight += sum.weight;
    gains_[place - 1].count += sum.occurrences;
    return place - 1;
}

}  // namespace prunedbpe
