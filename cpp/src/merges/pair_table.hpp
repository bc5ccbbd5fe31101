// The hash table of the pairs that may still be merged.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "merges/pair.hpp"
#include "prunedbpe/huge_array.hpp"

namespace prunedbpe {

/// A pair and where it occurs. Its list is complete and in ascending order from the start: a new
/// occurrence can appear only while the newer of its two tokens is being made. Later merges destroy
/// occurrences; the list keeps them, and they are recognised because the slots changed.
template <class Position>
struct IndexedPair {
    Pair pair{};
    std::int64_t frequency = 0;     ///< current, overlapping occurrences counted
    Position* positions = nullptr;  ///< the list; nullptr before it is allocated and after it is released
    Position position_count = 0;    ///< length of the list, destroyed occurrences included
    Position first_alive = 0;       ///< index into the list; all occurrences before it are destroyed

    /// Occurrences that a merge of this pair has to look at.
    Position candidate_count() const { return position_count - first_alive; }
};

/// Open addressing over 8-byte slots that hold row numbers; a pair keeps its row while the table grows. All operations
/// are O(1), amortised for `insert`.
template <class Position>
class PairTable {
public:
    using Row = IndexedPair<Position>;

    static constexpr std::uint32_t none = 0xFFFFFFFF;  ///< not a row

    /// `expected` pairs fit without growing.
    explicit PairTable(std::size_t expected = 0) : slots_(std::bit_ceil(std::max<std::size_t>(expected * 2, 2))) {
        rows_.reserve(expected);
    }

    Row& operator[](std::uint32_t row) { return rows_[row]; }
    const Row& operator[](std::uint32_t row) const { return rows_[row]; }

    /// Row of the pair, or `none`.
    std::uint32_t find(Pair pair) const {
        const std::uint32_t tag = tag_of(pair);
        for (std::size_t at = tag & mask();; at = (at + 1) & mask()) {
            if (slots_[at].row == none) return none;
            if (slots_[at].tag == tag && rows_[slots_[at].row].pair == pair) return slots_[at].row;
        }
    }

    /// Prefetches the slot of a pair that will be looked up or inserted soon; then, once the slot is here, its row.
    void prefetch_slot(Pair pair) const { __builtin_prefetch(&slots_[tag_of(pair) & mask()], 1); }
    void prefetch_row(Pair pair) const {
        const Slot slot = slots_[tag_of(pair) & mask()];
        if (slot.row != none) __builtin_prefetch(&rows_[slot.row], 1);
    }

    /// Inserts a pair that is not in the table; returns its row, which is valid until `recycle`. Throws
    /// std::length_error if the table is full, which takes more pairs than 32-bit positions allow.
    std::uint32_t insert(Pair pair) {
        std::uint32_t row;
        if (free_rows_.empty()) {
            if (rows_.size() >= none) throw std::length_error("more than four billion frequent pairs; the learner's limit");
            row = static_cast<std::uint32_t>(rows_.size());
            rows_.emplace_back();
        } else {
            row = free_rows_.back();
            free_rows_.pop_back();
        }
        rows_[row] = Row{.pair = pair};
        if (++used_ * 2 > slots_.size()) grow();
        put({tag_of(pair), row});
        return row;
    }

    /// Makes the pair unfindable. Its row stays valid until `recycle`, because the queue still refers to it.
    void erase(std::uint32_t row) {
        std::size_t hole = tag_of(rows_[row].pair) & mask();
        while (slots_[hole].row != row) hole = (hole + 1) & mask();
        // Move later slots of the run back, so that a look-up may stop at the first empty slot.
        for (std::size_t at = (hole + 1) & mask(); slots_[at].row != none; at = (at + 1) & mask()) {
            const std::size_t home = slots_[at].tag & mask();
            if (((at - home) & mask()) >= ((at - hole) & mask())) {
                slots_[hole] = slots_[at];
                hole = at;
            }
        }
        slots_[hole] = Slot{};
        --used_;
    }

    /// Lets `insert` reuse the row of an erased pair.
    void recycle(std::uint32_t row) { free_rows_.push_back(row); }

    std::size_t memory() const {
        return slots_.capacity() * sizeof(Slot) + rows_.capacity() * sizeof(Row) +
               free_rows_.capacity() * sizeof(std::uint32_t);
    }

private:
    struct Slot {
        std::uint32_t tag = 0;  // low half of the pair's hash: most mismatches are seen without touching the row
        std::uint32_t row = none;
    };

    static std::uint32_t tag_of(Pair pair) { return static_cast<std::uint32_t>(hash_pair(pair)); }
    std::size_t mask() const { return slots_.size() - 1; }

    void put(Slot slot) {
        std::size_t at = slot.tag & mask();
        while (slots_[at].row != none) at = (at + 1) & mask();
        slots_[at] = slot;
    }

    void grow() {
        HugeVector<Slot> old(slots_.size() * 2);
        std::swap(old, slots_);
        for (const Slot& slot : old) {
            if (slot.row != none) put(slot);
        }
    }

    HugeVector<Slot> slots_;  // a power of two, at most half full
    HugeVector<Row> rows_;
    std::vector<std::uint32_t> free_rows_;
    std::size_t used_ = 0;  // slots
};

}  // namespace prunedbpe
