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

/// Workers settle different shards at the same time. They read all findings, and write into them only
/// where the lists of their own pairs are.
class alignas(64) Settlement {
public:
    /// Settles one shard.
    void settle(const Replacement& merge, std::span<Findings> findings, PairIndex& index, unsigned place);
    /// Settles all shards after a merge that one worker has done alone.
    void settle_alone(const Replacement& merge, Findings& findings, PairIndex& index);

private:
    template <class ShardOf>
    void settle_where(const Replacement& merge, std::span<Findings> findings, ShardOf&& shard_of);

    struct Loss {
        std::uint64_t key;
        std::int64_t weight;
    };
    struct Gain {
        std::uint64_t key;
        std::int64_t weight;
        std::uint32_t neighbour;
        std::uint32_t part;  // the first one that found it
        NeighbourTally Findings::* side;
    };

    std::vector<Loss> losses_;
    std::vector<Gain> gains_;
};

}  // namespace prunedbpe
