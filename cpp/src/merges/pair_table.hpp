// Every pair that may still be merged, found by its two ranks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "merges/flat_corpus.hpp"
#include "prunedbpe/huge_array.hpp"
#include "util/hash.hpp"

namespace prunedbpe {

constexpr std::uint64_t pair_key(std::uint32_t left, std::uint32_t right) {
    return static_cast<std::uint64_t>(left) << 32 | right;
}

/// A pair and where it occurs. Its list is complete and in ascending order from the start: a new
/// occurrence can appear only while the newer of its two tokens is being made. Later merges destroy
/// occurrences; the list keeps them, and they are recognised because the slots changed.
struct Pair {
    std::uint64_t key = 0;
    std::int64_t frequency = 0;  // now; below 2 the pair is dead
    Position* positions = nullptr;
    std::uint32_t count = 0;  // length of the list as allocated
    std::uint32_t head = 0;   // everything before it is known to be destroyed

    std::uint32_t left() const { return static_cast<std::uint32_t>(key >> 32); }
    std::uint32_t right() const { return static_cast<std::uint32_t>(key); }
};

class PairTable {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFF;

    /// `expected` pairs, or more.
    explicit PairTable(std::size_t expected = 0) : slots_(std::bit_ceil(std::max<std::size_t>(expected * 2, 2))) {
        pairs_.reserve(expected);
    }

    Pair& operator[](std::uint32_t pair) { return pairs_[pair]; }
    const Pair& operator[](std::uint32_t pair) const { return pairs_[pair]; }

    /// Place of the pair, or `none`.
    std::uint32_t find(std::uint64_t key) const {
        const auto tag = static_cast<std::uint32_t>(hash_key(key));
        for (std::size_t at = tag & mask();; at = (at + 1) & mask()) {
            if (slots_[at].pair == none) return none;
            if (slots_[at].tag == tag && pairs_[slots_[at].pair].key == key) return slots_[at].pair;
        }
    }

    /// For a pair that will be looked for or added soon: its slot first, then what the slot names.
    void prefetch_slot(std::uint64_t key) const {
        __builtin_prefetch(&slots_[static_cast<std::uint32_t>(hash_key(key)) & mask()], 1);
    }
    void prefetch_pair(std::uint64_t key) const {
        const Slot slot = slots_[static_cast<std::uint32_t>(hash_key(key)) & mask()];
        if (slot.pair != none) __builtin_prefetch(&pairs_[slot.pair], 1);
    }

    /// Adds a pair that is not there; returns its place, which stays until `recycle`.
    std::uint32_t insert(std::uint64_t key) {
        std::uint32_t pair;
        if (free_.empty()) {
            pair = static_cast<std::uint32_t>(pairs_.size());
            pairs_.emplace_back();
        } else {
            pair = free_.back();
            free_.pop_back();
        }
        pairs_[pair] = Pair{.key = key};
        if (++used_ * 2 > slots_.size()) grow();
        put({static_cast<std::uint32_t>(hash_key(key)), pair});
        return pair;
    }

    /// The pair is no longer found; its place stays taken, because the queue still names it.
    void erase(std::uint32_t pair) {
        std::size_t hole = static_cast<std::uint32_t>(hash_key(pairs_[pair].key)) & mask();
        while (slots_[hole].pair != pair) hole = (hole + 1) & mask();
        // Move later entries of the run back, so that look-ups may stop at the first empty slot.
        for (std::size_t at = (hole + 1) & mask(); slots_[at].pair != none; at = (at + 1) & mask()) {
            const std::size_t home = slots_[at].tag & mask();
            if (((at - home) & mask()) >= ((at - hole) & mask())) {
                slots_[hole] = slots_[at];
                hole = at;
            }
        }
        slots_[hole] = Slot{};
        --used_;
    }

    /// The place of an erased pair may be given to another one.
    void recycle(std::uint32_t pair) { free_.push_back(pair); }

    std::size_t memory() const {
        return slots_.capacity() * sizeof(Slot) + pairs_.capacity() * sizeof(Pair) +
               free_.capacity() * sizeof(std::uint32_t);
    }

private:
    struct Slot {
        std::uint32_t tag = 0;  // of the key's hash: most misses are told without touching the pair
        std::uint32_t pair = none;
    };

    std::size_t mask() const { return slots_.size() - 1; }

    void put(Slot slot) {
        std::size_t at = slot.tag & mask();
        while (slots_[at].pair != none) at = (at + 1) & mask();
        slots_[at] = slot;
    }

    void grow() {
        HugeVector<Slot> old(slots_.size() * 2);
        std::swap(old, slots_);
        for (const Slot& slot : old) {
            if (slot.pair != none) put(slot);
        }
    }

    HugeVector<Slot> slots_;  // a power of two, at most half full
    HugeVector<Pair> pairs_;
    std::vector<std::uint32_t> free_;
    std::size_t used_ = 0;
};

}  // namespace prunedbpe
