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

/// A new pair, or the share of it that was found at `place`.
struct Gain {
    std::uint64_t key;
    std::int64_t weight;
    Position* room = nullptr;  // where its occurrences go, once the shard has a list for them
    std::uint32_t place;
    std::uint32_t sum;  // place in the tally
    std::uint32_t occurrences;
    Position first;
    std::uint32_t whole = 0;  // of a share: place of the whole gain
    bool on_the_left = false;
};

/// What one worker has found, by the shard that it concerns, in order of place: every shard reads what is meant for it,
/// and nothing else.
class alignas(64) Outbox {
public:
    explicit Outbox(std::size_t shards) : losses_(shards), gains_(shards) {}

    void clear();
    /// Notes what the findings at `place` change. New pairs that do not matter are left out if all of the merge is found
    /// there.
    void add(const Replacement& merge, const Findings& found, std::size_t place, const PairIndex& index, bool is_whole);

    /// Those that were found before place `end`.
    std::span<const Loss> losses(std::size_t shard, std::size_t end) const;
    std::span<Gain> gains(std::size_t shard, std::size_t end);
    /// Tells the findings where to write the occurrences of new pairs; all shards are settled.
    void hand_out_rooms(std::span<Findings> findings, std::size_t end);

    std::size_t memory() const;

private:
    std::vector<std::vector<Loss>> losses_;  // by shard
    std::vector<std::vector<Gain>> gains_;
};

/// Workers settle different shards at the same time.
class alignas(64) Settlement {
public:
    /// Settles one shard, and gives rooms to the gains that concern it.
    void settle(std::span<const Finished> merges, std::span<Outbox> outboxes, PairIndex& index, unsigned place);

private:
    /// Adds the new pairs of a merge of which every worker has found a share.
    void add_shared(std::span<Outbox> outboxes, std::size_t end, PairShard& shard, unsigned place);
    /// Place in `wholes_` + 1 of the gain that another one is a share of, found by the neighbour; 0 if there is none yet.
    std::uint32_t& whole_of(const Gain& share);

    std::vector<Gain> wholes_;                 // of all shares
    std::vector<std::uint32_t> left_, right_;  // by neighbour
};

}  // namespace prunedbpe
