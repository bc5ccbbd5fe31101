// After a merge: what the workers found -> the pairs of one shard of the index, up to date.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learn/neighbour_tally.hpp"
#include "learn/pair_index.hpp"

namespace prunedbpe {

/// A pair (a, b) that becomes the token `merged`.
struct Replacement {
    Pair pair;
    std::uint32_t merged;
};

/// What one worker finds while it replaces its part of the occurrences of (a, b) by a new token t.
struct alignas(64) Findings {
    NeighbourTally left;   // x before t: the pair (x, t) is new, an (x, a) is gone
    NeighbourTally right;  // y after t: the pair (t, y) is new, a (b, y) is gone
    std::int64_t applied = 0;
    std::int64_t rejoined = 0;  // weight of "t a" that became "t t": a (b, a) is gone all the same

    /// Gets ready for the next merge; the lists of the last one are filled.
    void start(std::size_t rank_count) {
        left.reserve_ranks(rank_count);
        right.reserve_ranks(rank_count);
        applied = rejoined = 0;
    }
};

/// Workers settle different shards at the same time. They read the findings of all parts and write
/// nothing into them: where the occurrences of new pairs go is kept here, for each part to fetch.
class alignas(64) Settlement {
public:
    explicit Settlement(unsigned parts) : rooms_(parts) {}

    /// Settles one shard.
    void settle(const Replacement& merge, std::span<const Findings> findings, PairIndex& index, unsigned place);
    /// Settles all shards after a merge that one worker has done alone.
    void settle_alone(const Replacement& merge, const Findings& findings, PairIndex& index);

    /// Tells a part's findings where to write the occurrences of the new pairs settled here.
    void hand_out_rooms(unsigned part, Findings& findings);

private:
    struct Loss {
        std::uint64_t key;
        std::int64_t weight;
    };
    struct Gain {
        std::uint64_t key;
        std::int64_t weight;
        std::uint32_t count;
        Position first;
        Position* room;
    };
    /// One part's share of a gain.
    struct Share {
        std::uint32_t gain;
        std::uint32_t part;
        std::uint32_t sum;  // place in the tally
        std::uint32_t occurrences;
        bool on_the_left;
    };
    struct Room {
        Position* room;
        std::uint32_t sum;
        bool on_the_left;
    };

    template <class ShardOf>
    void settle_where(const Replacement& merge, std::span<const Findings> findings, ShardOf&& shard_of);
    /// Place of a new pair in gains_, by its neighbour; added if an earlier part has not found it.
    std::uint32_t gain_of(std::uint64_t key, const NeighbourTally::Sum& sum, std::vector<std::uint32_t>& places);

    std::vector<Loss> losses_;
    std::vector<Gain> gains_;
    std::vector<Share> shares_;
    std::vector<std::vector<Room>> rooms_;          // by part
    std::vector<std::uint32_t> left_, right_;       // by neighbour: place in gains_ + 1, or 0
};

}  // namespace prunedbpe
