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

    // For one of several merges, which are not done at once:
    std::vector<Position> occurrences;  // to be replaced
    std::size_t cut = 0;                // how many of them may be done together, as far as is seen here
    unsigned worker = 0;                // who has the occurrences in the cache

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

/// Elements of which only some stay, which ones being unforeseeable: each is written, and overwritten by the next if it
/// does not stay. A branch would be guessed wrong every other time.
template <class T>
class Gathered {
public:
    void clear() { size_ = 0; }
    /// For so many more.
    void make_room(std::size_t count) {
        if (elements_.size() < size_ + count) elements_.resize(2 * (size_ + count));
    }
    void add(const T& element, bool stays) {
        elements_[size_] = element;
        size_ += stays;
    }

    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return elements_[i]; }
    const T& operator[](std::size_t i) const { return elements_[i]; }
    std::span<T> all() { return {elements_.data(), size_}; }

private:
    std::vector<T> elements_;
    std::size_t size_ = 0;
};

/// Workers settle different shards at the same time. They read the findings of all merges and write
/// nothing into them: where the occurrences of new pairs go is kept here, to be fetched later.
class alignas(64) Settlement {
public:
    /// `findings` are all there may ever be: of the parts of one merge, or of several merges.
    explicit Settlement(std::size_t findings) : rooms_(findings) {}

    /// Settles one shard.
    void settle(std::span<const Finished> merges, std::span<const Findings> findings, PairIndex& index, unsigned place);

    /// Tells findings where to write the occurrences of the new pairs settled here.
    void hand_out_rooms(std::size_t part, Findings& findings);

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
        std::uint32_t neighbour;
        std::uint32_t occurrences;
        bool on_the_left;
    };
    struct Room {
        Position* room;
        std::uint32_t sum;
        bool on_the_left;
    };

    /// Which pairs have lost or gained occurrences, of those that `is_here` tells.
    template <class IsHere>
    void collect(const Finished& finished, std::span<const Findings> findings, IsHere&& is_here);
    /// Place of a new pair in gains_, by its neighbour; added if an earlier part has not found it.
    std::uint32_t gain_of(std::uint64_t key, const NeighbourTally::Sum& sum, std::vector<std::uint32_t>& places);

    Gathered<Loss> losses_;
    Gathered<Gain> gains_;
    Gathered<Share> shares_;
    std::vector<std::vector<Room>> rooms_;          // by place of the findings
    std::vector<std::uint32_t> left_, right_;       // by neighbour: place in gains_ + 1, or 0
};

}  // namespace prunedbpe
