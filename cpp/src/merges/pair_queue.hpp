// A priority queue of pairs that sorts only those near the front.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "merges/pair_order.hpp"
#include "prunedbpe/huge_array.hpp"

namespace prunedbpe {

/// The highest frequency only falls, most pairs are rare, and many die before their turn. So a pair waits unsorted in
/// a bin of similar frequencies ("far") until its bin is opened. Opening corrects and sorts the bin's pairs, which
/// then are "near". Pairs pushed at a near frequency go to a small heap. A single binary heap of all pairs makes
/// learning a fifth slower: it sifts every pair, and corrects entries again and again that a bin corrects once.
template <class Position>
class PairQueue {
public:
    using Entry = QueueEntry<Position>;

    /// Eight bins for each power of two; below 16, one for each frequency.
    static constexpr unsigned step_bits = 3;
    static constexpr std::size_t bin_count = 64 << step_bits;

    /// Closes all bins of an empty queue.
    void restart() { open_from_ = bin_count; }

    void push(const Entry& entry) {
        if (!is_near(entry.frequency)) {
            bins_[bin_of(entry.frequency)].push_back(entry);
            ++far_count_;
            return;
        }
        newer_.push_back(entry);
        std::push_heap(newer_.begin(), newer_.end(), merges_after);
    }

    /// Is the bin of this frequency open?
    bool is_near(std::int64_t frequency) const { return bin_of(frequency) >= open_from_; }
    bool has_near() const { return near_count() > 0; }
    std::size_t near_count() const { return sorted_.size() + newer_.size(); }
    std::size_t far_count() const { return far_count_; }
    std::size_t bin_size(std::size_t bin) const { return bins_[bin].size(); }

    /// Opens bin `bin` and all above it. `correct` brings an entry up to date and returns whether it is near; if not,
    /// it may push the entry again. `prefetch` sees each entry a few steps before `correct` does.
    template <class Correct, class Prefetch>
    void open_from(std::size_t bin, Correct&& correct, Prefetch&& prefetch) {
        constexpr std::size_t ahead = 8;
        std::vector<Entry> opened;
        const std::size_t end = std::exchange(open_from_, std::min(bin, open_from_));
        for (std::size_t next = end; next-- > open_from_;) {
            const Bin entries = std::exchange(bins_[next], {});
            far_count_ -= entries.size();
            for (std::size_t i = 0; i < entries.size(); ++i) {
                if (i + ahead < entries.size()) prefetch(entries[i + ahead]);
                Entry entry = entries[i];
                if (correct(entry)) opened.push_back(entry);
            }
        }
        if (opened.empty()) return;
        std::sort(opened.begin(), opened.end(), merges_after);
        opened.insert(opened.end(), sorted_.begin(), sorted_.end());  // they come from higher bins, so they merge first
        sorted_ = std::move(opened);
    }

    /// The near pair that merges first; there must be one.
    const Entry& front() const { return newer_is_first() ? newer_.front() : sorted_.back(); }
    Entry pop() {
        const Entry entry = front();
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
        return entries * sizeof(Entry);
    }

private:
    using Bin = HugeVector<Entry>;

    static std::size_t bin_of(std::int64_t frequency) {
        const auto value = static_cast<std::uint64_t>(frequency);
        const auto shift = static_cast<unsigned>(std::bit_width(value | 1 << step_bits)) - 1 - step_bits;
        return (shift << step_bits) + (value >> shift);
    }

    static constexpr auto merges_after = [](const Entry& a, const Entry& b) { return merges_before(b, a); };
    bool newer_is_first() const {
        return sorted_.empty() || (!newer_.empty() && merges_before(newer_.front(), sorted_.back()));
    }

    std::array<Bin, bin_count> bins_;     // by frequency; open ones are empty
    std::size_t open_from_ = bin_count;   // the lowest open bin; bin_count if all are closed
    std::size_t far_count_ = 0;           // pairs in bins
    std::vector<Entry> sorted_;      // near pairs from opened bins; the last element merges first
    std::vector<Entry> newer_;       // near pairs pushed since; a heap
};

}  // namespace prunedbpe
