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

void Settlement::settle(const Replacement& merge, std::span<Findings> findings, PairIndex& index, unsigned place) {
    settle_where(merge, findings, [&](std::uint64_t key) {
        return index.shard_of(key) == place ? &index.shard(place) : nullptr;
    });
}

void Settlement::settle_alone(const Replacement& merge, Findings& findings, PairIndex& index) {
    settle_where(merge, {&findings, 1}, [&](std::uint64_t key) { return &index.shard(index.shard_of(key)); });
}

/// `shard_of` tells the shard of a key, or nullptr if it is not to be settled here.
template <class ShardOf>
void Settlement::settle_where(const Replacement& merge, std::span<Findings> findings, ShardOf&& shard_of) {
    const std::uint32_t a = merge.pair.left(), b = merge.pair.right(), t = merge.merged;
    const auto parts = static_cast<std::uint32_t>(findings.size());
    const auto is_mine = [&](std::uint64_t key) { return shard_of(key) != nullptr; };

    // 1. Which pairs of this shard have lost or gained occurrences.
    losses_.clear();
    gains_.clear();
    for (std::uint32_t part = 0; part < parts; ++part) {
        const Findings& found = findings[part];
        const auto gather = [&](NeighbourTally Findings::* side, auto&& lost_key, auto&& new_key) {
            for (const std::uint32_t neighbour : (found.*side).touched()) {
                const std::uint64_t lost = lost_key(neighbour), gained = new_key(neighbour);
                // No pair that is lost holds t, so none of them is new.
                if (is_mine(lost) && !(neighbour == t && side == &Findings::left)) {
                    losses_.push_back({lost, (found.*side)[neighbour].weight});
                }
                if (!is_mine(gained)) continue;
                // A neighbour that several parts found counts where the first did.
                std::int64_t weight = 0;
                std::uint32_t first = parts;
                for (std::uint32_t other = 0; other < parts; ++other) {
                    const NeighbourTally::Sum& sum = (findings[other].*side)[neighbour];
                    if (sum.occurrences == 0) continue;
                    first = std::min(first, other);
                    weight += sum.weight;
                }
                if (first == part) gains_.push_back({gained, weight, neighbour, part, side});
            }
        };
        gather(&Findings::left, [a](std::uint32_t x) { return pair_key(x, a); },
               [t](std::uint32_t x) { return pair_key(x, t); });
        gather(&Findings::right, [b](std::uint32_t y) { return pair_key(b, y); },
               [t](std::uint32_t y) { return pair_key(t, y); });
        if (found.rejoined != 0 && is_mine(pair_key(b, a))) losses_.push_back({pair_key(b, a), found.rejoined});
    }

    // 2. The merged pair is no more, and others are rarer.
    if (PairShard* const shard = shard_of(merge.pair.key)) shard->remove(merge.pair.key);
    for_each_ahead(losses_, shard_of,
                   [&](const Loss& loss) { shard_of(loss.key)->decrease(loss.key, loss.weight); });

    // 3. A list of the exact size for every new pair that occurs often enough to matter.
    for_each_ahead(gains_, shard_of, [&](const Gain& gain) {
        PairShard& shard = *shard_of(gain.key);
        Position* room = nullptr;
        if (gain.weight >= shard.floor()) {
            std::uint32_t count = 0;
            for (std::uint32_t part = gain.part; part < parts; ++part) {
                count += (findings[part].*gain.side)[gain.neighbour].occurrences;
            }
            room = shard.add(gain.key, gain.weight, count, (findings[gain.part].*gain.side)[gain.neighbour].first);
        }
        for (std::uint32_t part = gain.part; part < parts; ++part) {
            NeighbourTally& tally = findings[part].*gain.side;
            const std::uint32_t occurrences = tally[gain.neighbour].occurrences;
            if (occurrences == 0) continue;
            tally.set_room(gain.neighbour, room);
            if (room != nullptr) room += occurrences;
        }
    });
}

}  // namespace prunedbpe
