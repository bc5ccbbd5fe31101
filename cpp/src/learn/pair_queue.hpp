// Which pairs merge next: those of about the highest frequency in order, all others in bins.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "learn/pair_order.hpp"
#include "prunedbpe/huge_array.hpp"

namespace prunedbpe {

/// The highest frequency only falls, most pairs are rare, and many die before it is their turn. So a pair waits in a bin
/// of pairs of similar frequency, at no cost, until all bins above it are empty. Then the pairs of its bin are put in
/// order: sorted, which takes less time than a heap. The few that come later are a heap of their own, a small one.
class PairQueue {
public:
    /// No pair is left in it; it takes pairs of any frequency again.
    void restart() { near_from_ = bins_.size(); }

    void push(const QueueEntry& entry) {
        if (!is_near(entry.frequency)) {
            bins_[bin_of(entry.frequency)].push_back(entry);
            ++far_;
            return;
        }
        newer_.push_back(entry);
        std::push_heap(newer_.begin(), newer_.end(), merges_after);
    }

    /// Are pairs of this frequency in order, and not in a bin?
    bool is_near(std::int64_t frequency) const { return bin_of(frequency) >= near_from_; }
    bool has_near() const { return !(sorted_.empty() && newer_.empty()); }
    bool empty() const { return !has_near() && far_ == 0; }

    /// Puts the pairs of the next bin in order; there must be some in bins, and none in order. `correct` changes an entry
    /// that is out of date and tells whether it stays; it may push. `prefetch` is told of an entry some time before.
    template <class Correct, class Prefetch>
    void open_bin(Correct&& correct, Prefetch&& prefetch) {
        constexpr std::size_t ahead = 8;
        do --near_from_;
        while (bins_[near_from_].empty());
        Bin bin = std::exchange(bins_[near_from_], {});
        far_ -= bin.size();
        for (std::size_t i = 0; i < bin.size(); ++i) {
            if (i + ahead < bin.size()) prefetch(bin[i + ahead]);
            if (correct(bin[i])) sorted_.push_back(bin[i]);
        }
        std::sort(sorted_.begin(), sorted_.end(), merges_after);
    }

    /// The first of those in order, of which there must be one.
    const QueueEntry& front() const { return newer_is_first() ? newer_.front() : sorted_.back(); }
    QueueEntry pop() {
        const QueueEntry entry = front();
        if (newer_is_first()) {
            std::pop_heap(newer_.begin(), newer_.end(), merges_after);
            newer_.pop_back();
        } else {
            sorted_.pop_back();
        }
        return entry;
    }

    std::size_t memory() const {
        std::size_t entries = sorted_.capacity() + newer_.capacity();
        for (const Bin& bin : bins_) entries += bin.capacity();
        return entries * sizeof(QueueEntry);
    }

private:
    using Bin = HugeVector<QueueEntry>;

    /// Eight bins for each power of two, and one for each frequency below 16.
    static constexpr unsigned step_bits = 3;
    static std::size_t bin_of(std::int64_t frequency) {
        const auto value = static_cast<std::uint64_t>(frequency);
        const auto shift = static_cast<unsigned>(std::bit_width(value | 1 << step_bits)) - 1 - step_bits;
        return (shift << step_bits) + (value >> shift);
    }

    static constexpr auto merges_after = [](const QueueEntry& a, const QueueEntry& b) { return merges_before(b, a); };
    bool newer_is_first() const {
        return sorted_.empty() || (!newer_.empty() && merges_before(newer_.front(), sorted_.back()));
    }

    std::array<Bin, 64 << step_bits> bins_;
    std::size_t far_ = 0;                   // how many are in bins
    std::size_t near_from_ = bins_.size();  // the bins from here on are empty
    std::vector<QueueEntry> sorted_;        // the first one at the end
    std::vector<QueueEntry> newer_;         // a heap
};

}  // namespace prunedbpe
