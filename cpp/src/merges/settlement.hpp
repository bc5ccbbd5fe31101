// After a merge: what the workers found -> the pairs of one shard of the index, up to date.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "merges/neighbour_tally.hpp"
#include "merges/pair_index.hpp"

namespace prunedbpe {

/// A pair (a, b) that becomes the token `merged`.
struct Replacement {
    Pair pair;
    std::uint32_t merged;
};

/// What one worker finds at its part of the occurrences of (a, b), which become a new token t.
struct alignas(64) Findings {
    NeighbourTally left;   // x before t: the pair (x, t) is new, an (x, a) is gone
    NeighbourTally right;  // y after t: the pair (t, y) is new, a (b, y) is gone
    std::int64_t applied = 0;
    std::int64_t rejoined = 0;  // weight of "t a" that became "t t": a (b, a) is gone all the same
    unsigned worker = 0;        // who found it, and has it in the cache

    // For one of several merges, which are not done at once:
    std::vector<Position> occurrences;  // to be replaced
    std::size_t cut = 0;                // how many of them may be done together, as far as is seen here

    NeighbourTally& side(bool on_the_left) { return on_the_left ? left : right; }
    void give_places_back() {
        left.give_places_back();
        right.give_places_back();
    }
    void fill_lists() {
        left.fill_lists();
        right.fill_lists();
    }
    std::size_t memory() const {
        return left.memory() + right.memory() + occurrences.capacity() * sizeof(Position);
    }
};

/// A merge and where its findings are: those of `count` parts from `first` on.
struct Finished {
    Replacement merge;
    std::size_t first;
    std::size_t count;
};
/// Behind the last place of the findings of merges that are done together.
inline std::size_t end_of_places(std::span<const Finished> merges) { return merges.back().first + merges.back().count; }

/// A pair has lost occurrences, by what was found at `place`.
struct Loss {
    std::uint64_t key;
    std::int64_t weight;
    std::uint32_t place;
};

/// A new pair, or a share of it: a sum of what was found at `place`.
struct Gain {
    std::uint64_t key;
    std::uint32_t sum;
    std::uint16_t place;
    bool on_the_left;
};

/// What one worker has found, by the shard that it concerns, in order of place: every shard reads what is meant for it,
/// and nothing else.
class alignas(64) Outbox {
public:
    explicit Outbox(std::size_t shards) : losses_(shards), gains_(shards) {}

    void clear();
    /// Notes what the findings at `place` change. Of new pairs only those whose weight there is `least_gain` or more.
    void add(const Replacement& merge, const Findings& found, std::size_t place, const PairIndex& index,
             std::int64_t least_gain);

    /// Those that were found before place `end`.
    std::span<const Loss> losses(std::size_t shard, std::size_t end) const;
    std::span<const Gain> gains(std::size_t shard, std::size_t end) const;

    std::size_t memory() const;

private:
    std::vector<std::vector<Loss>> losses_;  // by shard
    std::vector<std::vector<Gain>> gains_;
};

/// The least weight of a share of a new pair that is worth noting: if all of `shares` are below, the pair does not reach
/// the floor.
inline std::int64_t least_gain(std::int64_t floor, std::size_t shares) {
    const auto parts = static_cast<std::int64_t>(shares);
    return (floor + parts - 1) / parts;
}

/// Settles shard `place`, and tells the findings where the occurrences of its new pairs go. Different shards are settled
/// at the same time. If a merge was split, its tallies still have their places.
void settle(std::span<const Finished> merges, std::span<const Outbox> outboxes, std::span<Findings> findings,
            PairIndex& index, unsigned place);

}  // namespace prunedbpe
