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

}  // namespace

void Settlement::settle(std::span<const Finished> merges, std::span<const Findings> findings, PairIndex& index,
                        unsigned place) {
    PairShard& shard = index.shard(place);
    const auto is_here = [&](std::uint64_t key) { return index.shard_of(key) == place; };
    losses_.clear();
    gains_.clear();
    shares_.clear();
    for (const Finished& finished : merges) collect(finished, findings, is_here);

    // 1. Merged pairs are no more, and others are rarer.
    for (const Finished& finished : merges) {
        if (is_here(finished.merge.pair.key)) shard.remove(finished.merge.pair.key);
    }
    for_each_ahead<Loss>(losses_.all(), shard, [&](const Loss& loss) { shard.decrease(loss.key, loss.weight); });

    // 2. A list of the exact size for every new pair that occurs often enough to matter, and room in it
    // for every part, in their order.
    for (Gain& gain : gains_.all()) {
        if (gain.weight >= shard.floor()) gain.room = shard.add(gain.key, gain.weight, gain.count, gain.first);
    }
    for (const Share& share : shares_.all()) {
        Gain& gain = gains_[share.gain];
        if (gain.room == nullptr) continue;
        rooms_[share.part].push_back({gain.room, share.sum, share.on_the_left});
        gain.room += share.occurrences;
    }
}

void Settlement::hand_out_rooms(std::size_t part, Findings& findings) {
    for (const Room& room : rooms_[part]) {
        (room.on_the_left ? findings.left : findings.right).set_room(room.sum, room.room);
    }
    rooms_[part].clear();
}

template <class IsHere>
void Settlement::collect(const Finished& finished, std::span<const Findings> findings, IsHere&& is_here) {
    const std::uint32_t a = finished.merge.pair.left(), b = finished.merge.pair.right(), t = finished.merge.merged;
    const bool is_split = finished.count > 1;
    const std::size_t first_share = shares_.size();
    for (std::size_t part = finished.first; part < finished.first + finished.count; ++part) {
        // No pair that is lost holds t, so none is new.
        const auto lose = [&](std::uint64_t key, std::int64_t weight) { losses_.add({key, weight}, is_here(key)); };
        const auto gain = [&](std::uint64_t key, const NeighbourTally::Sum& sum, std::size_t i, bool on_the_left) {
            const bool stays = is_here(key);
            auto place = static_cast<std::uint32_t>(gains_.size());
            if (!is_split) {
                gains_.add({key, sum.weight, sum.occurrences, sum.first, nullptr}, stays);
            } else if (stays) {
                place = gain_of(key, sum, on_the_left ? left_ : right_);
            }
            shares_.add({place, static_cast<std::uint32_t>(part), static_cast<std::uint32_t>(i), sum.neighbour,
                         sum.occurrences, on_the_left},
                        stays);
        };
        const std::size_t most = findings[part].left.sums().size() + findings[part].right.sums().size() + 1;
        losses_.make_room(most);
        gains_.make_room(most);
        shares_.make_room(most);
        const auto& left = findings[part].left.sums();
        for (std::size_t i = 0; i < left.size(); ++i) {
            const std::uint32_t x = left[i].neighbour;
            if (x != t) lose(pair_key(x, a), left[i].weight);
            gain(pair_key(x, t), left[i], i, true);
        }
        const auto& right = findings[part].right.sums();
        for (std::size_t i = 0; i < right.size(); ++i) {
            const std::uint32_t y = right[i].neighbour;
            lose(pair_key(b, y), right[i].weight);
            gain(pair_key(t, y), right[i], i, false);
        }
        if (findings[part].rejoined != 0) lose(pair_key(b, a), findings[part].rejoined);
    }
    if (!is_split) return;
    for (std::size_t i = first_share; i < shares_.size(); ++i) {
        (shares_[i].on_the_left ? left_ : right_)[shares_[i].neighbour] = 0;
    }
}

std::uint32_t Settlement::gain_of(std::uint64_t key, const NeighbourTally::Sum& sum,
                                  std::vector<std::uint32_t>& places) {
    if (places.size() <= sum.neighbour) places.resize(sum.neighbour + sum.neighbour / 2 + 1);
    std::uint32_t& place = places[sum.neighbour];
    if (place == 0) {
        gains_.add({key, 0, 0, sum.first, nullptr}, true);
        place = static_cast<std::uint32_t>(gains_.size());
    }
    gains_[place - 1].weight += sum.weight;
    gains_[place - 1].count += sum.occurrences;
    return place - 1;
}

}  // namespace prunedbpe
