// What one worker gathers on one side of a merge: which neighbours, how often, and where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "merges/flat_corpus.hpp"

namespace prunedbpe {

/// Sums by neighbour (a merge has thousands of occurrences but few distinct neighbours), and a record
/// of every occurrence so that each new pair's list can be cut to size. The sums lie side by side, in
/// order of first occurrence: other workers read them in one go, not line by line across the caches.
class NeighbourTally {
public:
    /// Where the sum of each neighbour is, by rank: its place + 1, or 0. As large as all ranks, so a worker has one and
    /// lends it to one tally after the other; between two of them it is all zeros.
    using Places = std::vector<std::uint32_t>;

    struct Sum {
        std::int64_t weight;
        Position* room;  // where `fill_lists` writes the occurrences; nullptr if nobody needs them
        std::uint32_t neighbour;
        std::uint32_t occurrences;
        Position first;  // of the new pair
    };

    /// Begins anew; ranks are below `rank_count`.
    void start(Places& places, std::size_t rank_count) {
        if (places.size() < rank_count) places.resize(rank_count + rank_count / 2);
        places_ = places.data();
        sums_.clear();
        records_.clear();
    }
    /// Nothing is added or looked for any more: the places serve another tally.
    void give_places_back() {
        if (places_ == nullptr) return;
        for (const Sum& sum : sums_) places_[sum.neighbour] = 0;
        places_ = nullptr;
    }

    void add(std::uint32_t neighbour, Position position, std::int64_t weight) {
        std::uint32_t& place = places_[neighbour];
        if (place == 0) {
            sums_.push_back({0, nullptr, neighbour, 0, position});
            place = static_cast<std::uint32_t>(sums_.size());
        }
        Sum& sum = sums_[place - 1];
        sum.weight += weight;
        ++sum.occurrences;
        records_.push_back({place - 1, position});
    }

    /// Takes back the newest record.
    void take_back(std::int64_t weight) {
        Sum& sum = sums_[records_.back().sum];
        records_.pop_back();
        sum.weight -= weight;
        if (--sum.occurrences > 0) return;
        // The only record of its neighbour was the newest of all: this sum is the last one.
        places_[sum.neighbour] = 0;
        sums_.pop_back();
    }

    const std::vector<Sum>& sums() const { return sums_; }
    Sum& operator[](std::size_t sum) { return sums_[sum]; }
    /// The sum of a neighbour, or nullptr; as long as the tally has its places.
    Sum* find(std::uint32_t neighbour) {
        const std::uint32_t place = places_[neighbour];
        return place == 0 ? nullptr : &sums_[place - 1];
    }
    /// The largest weight of a neighbour.
    std::int64_t largest() const {
        std::int64_t weight = 0;
        for (const Sum& sum : sums_) weight = std::max(weight, sum.weight);
        return weight;
    }

    /// Writes all records where they belong.
    void fill_lists() {
        for (const Record& record : records_) {
            if (Position*& room = sums_[record.sum].room) *room++ = record.position;
        }
    }

    std::size_t memory() const { return sums_.capacity() * sizeof(Sum) + records_.capacity() * sizeof(Record); }

private:
    struct Record {
        std::uint32_t sum;  // place in sums_
        Position position;  // of the new pair
    };

    std::uint32_t* places_ = nullptr;  // lent
    std::vector<Sum> sums_;
    std::vector<Record> records_;
};

/// What a worker lends to the tallies of both sides.
struct NeighbourPlaces {
    NeighbourTally::Places left, right;
    std::size_t memory() const { return (left.capacity() + right.capacity()) * sizeof(std::uint32_t); }
};

}  // namespace prunedbpe
