// What one worker gathers on one side of a merge: which neighbours, how often, and where.
#pragma once

#include <cstdint>
#include <vector>

#include "learn/flat_corpus.hpp"

namespace prunedbpe {

/// Sums by neighbour rank in a dense array (a merge has thousands of occurrences but few distinct
/// neighbours), and a record of every occurrence so that each new pair's list can be cut to size.
class NeighbourTally {
public:
    struct Sum {
        std::int64_t weight = 0;
        std::uint32_t occurrences = 0;  // 0: not a neighbour here
        Position first = 0;             // of the new pair
    };

    void reserve_ranks(std::size_t rank_count) {
        if (sums_.size() >= rank_count) return;
        sums_.resize(rank_count + rank_count / 2);
        rooms_.resize(sums_.size());
    }

    void add(std::uint32_t neighbour, Position position, std::int64_t weight) {
        Sum& sum = sums_[neighbour];
        if (sum.occurrences++ == 0) {
            sum.first = position;
            touched_.push_back(neighbour);
        }
        sum.weight += weight;
        records_.push_back({neighbour, position});
    }

    /// Takes back the newest record.
    void take_back(std::int64_t weight) {
        Sum& sum = sums_[records_.back().neighbour];
        sum.weight -= weight;
        // The only record of its neighbour and the newest of all: the last one touched.
        if (--sum.occurrences == 0) touched_.pop_back();
        records_.pop_back();
    }

    const Sum& operator[](std::uint32_t neighbour) const { return sums_[neighbour]; }
    /// The neighbours, in order of first occurrence.
    const std::vector<std::uint32_t>& touched() const { return touched_; }

    /// Where `fill_lists` writes the occurrences with this neighbour; nullptr if nobody needs them.
    /// Must be told for all neighbours; different ones by different workers, if need be.
    void set_room(std::uint32_t neighbour, Position* room) { rooms_[neighbour] = room; }
    /// Writes all records where they belong, and forgets everything.
    void fill_lists() {
        for (const Record& record : records_) {
            if (Position*& room = rooms_[record.neighbour]) *room++ = record.position;
        }
        for (const std::uint32_t neighbour : touched_) sums_[neighbour] = Sum{};
        touched_.clear();
        records_.clear();
    }

    std::size_t memory() const {
        return sums_.capacity() * sizeof(Sum) + rooms_.capacity() * sizeof(Position*) +
               records_.capacity() * sizeof(Record);
    }

private:
    struct Record {
        std::uint32_t neighbour;
        Position position;  // of the new pair
    };

    std::vector<Sum> sums_;         // by neighbour rank
    std::vector<Position*> rooms_;  // by neighbour rank; apart, because filling needs nothing else
    std::vector<std::uint32_t> touched_;
    std::vector<Record> records_;
};

}  // namespace prunedbpe
