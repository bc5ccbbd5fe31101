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
        std::uint32_t occurrences = 0;  // later: where this worker writes next in the pair's list
        bool touched = false;
    };
    struct Record {
        std::uint32_t neighbour;
        Position position;  // of the new pair
    };

    void reserve_ranks(std::size_t rank_count) {
        if (sums_.size() < rank_count) sums_.resize(rank_count + rank_count / 2);
    }

    void add(std::uint32_t neighbour, Position position, std::int64_t weight) {
        Sum& sum = sums_[neighbour];
        if (!sum.touched) {
            sum.touched = true;
            touched_.push_back(neighbour);
        }
        sum.weight += weight;
        ++sum.occurrences;
        records_.push_back({neighbour, position});
    }

    /// Takes back the newest record; its neighbour stays touched, maybe with zeros.
    void take_back(std::int64_t weight) {
        Sum& sum = sums_[records_.back().neighbour];
        sum.weight -= weight;
        --sum.occurrences;
        records_.pop_back();
    }

    Sum& operator[](std::uint32_t neighbour) { return sums_[neighbour]; }
    const std::vector<std::uint32_t>& touched() const { return touched_; }
    const std::vector<Record>& records() const { return records_; }

    void clear() {
        for (const std::uint32_t neighbour : touched_) sums_[neighbour] = Sum{};
        touched_.clear();
        records_.clear();
    }

    std::size_t memory() const {
        return sums_.capacity() * sizeof(Sum) + records_.capacity() * sizeof(Record);
    }

private:
    std::vector<Sum> sums_;  // by neighbour rank
    std::vector<std::uint32_t> touched_;
    std::vector<Record> records_;
};

}  // namespace prunedbpe
