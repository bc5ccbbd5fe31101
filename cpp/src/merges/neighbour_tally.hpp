// The neighbours on one side of a merge: which ranks, how often, and where.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace prunedbpe {

/// By rank: index of the neighbour's sum + 1, or 0 for none. As large as all ranks, so each worker has one and lends it
/// to one tally after another; all zeros while not lent.
using SumIndex = std::vector<std::uint32_t>;

/// Every distinct neighbour makes a new pair with the merged token. A merge has thousands of occurrences but few
/// distinct neighbours, so the tally keeps a sum for each, and a record of every occurrence to fill the new pair's
/// list from. The sums are contiguous, in order of first occurrence, because other workers read them.
template <class Position>
class NeighbourTally {
public:
    struct Sum {
        std::int64_t weight;  ///< frequency of the new pair
        Position* room;       ///< where `fill_lists` writes the next occurrence; nullptr if the pair is not indexed
        std::uint32_t neighbour;
        Position occurrences;
        Position first;  ///< of the new pair's occurrences
    };

    /// Empties the tally and borrows a sum index; all ranks are below `rank_count`.
    void start(SumIndex& lent, std::size_t rank_count) {
        if (lent.size() < rank_count) lent.resize(rank_count + rank_count / 2);
        sum_index_ = lent.data();
        sums_.clear();
        records_.clear();
    }
    /// Clears and returns the sum index; `add` and `find` may not be called until the next `start`.
    void return_sum_index() {
        if (sum_index_ == nullptr) return;
        for (const Sum& sum : sums_) sum_index_[sum.neighbour] = 0;
        sum_index_ = nullptr;
    }

    /// `position` is that of the new pair.
    void add(std::uint32_t neighbour, Position position, std::int64_t weight) {
        std::uint32_t& number = sum_index_[neighbour];
        if (number == 0) {
            sums_.push_back({0, nullptr, neighbour, 0, position});
            number = static_cast<std::uint32_t>(sums_.size());
        }
        Sum& sum = sums_[number - 1];
        sum.weight += weight;
        ++sum.occurrences;
        records_.push_back({number - 1, position});
    }

    /// Undoes the last `add`, whose weight is given.
    void undo_add(std::int64_t weight) {
        Sum& sum = sums_[records_.back().sum];
        records_.pop_back();
        sum.weight -= weight;
        if (--sum.occurrences > 0) return;
        // The sum's only record was the newest of all, so the sum is the last one.
        sum_index_[sum.neighbour] = 0;
        sums_.pop_back();
    }

    const std::vector<Sum>& sums() const { return sums_; }
    Sum& operator[](std::size_t sum) { return sums_[sum]; }
    /// The sum of a neighbour, or nullptr.
    Sum* find(std::uint32_t neighbour) {
        const std::uint32_t number = sum_index_[neighbour];
        return number == 0 ? nullptr : &sums_[number - 1];
    }
    /// The highest frequency of a new pair.
    std::int64_t largest() const {
        std::int64_t weight = 0;
        for (const Sum& sum : sums_) weight = std::max(weight, sum.weight);
        return weight;
    }

    /// Writes all recorded occurrences into the lists of their pairs.
    void fill_lists() {
        for (const Record& record : records_) {
            if (Position*& room = sums_[record.sum].room) *room++ = record.position;
        }
    }

    std::size_t memory() const { return sums_.capacity() * sizeof(Sum) + records_.capacity() * sizeof(Record); }

private:
    struct Record {
        std::uint32_t sum;  // index in sums_
        Position position;  // of the new pair
    };

    std::uint32_t* sum_index_ = nullptr;  // borrowed
    std::vector<Sum> sums_;
    std::vector<Record> records_;
};

/// What a worker lends to the tallies of both sides.
struct SumIndexes {
    SumIndex left, right;
    std::size_t memory() const { return (left.capacity() + right.capacity()) * sizeof(std::uint32_t); }
};

}  // namespace prunedbpe
