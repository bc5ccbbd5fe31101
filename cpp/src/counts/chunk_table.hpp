// A hash table of chunks: open addressing, short keys in the entries, long ones in an arena.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "counts/chunk_key.hpp"
#include "prunedbpe/huge_array.hpp"
#include "util/block_vector.hpp"

namespace prunedbpe {

/// No allocation per chunk; `add` is O(1) amortised. Aligned to avoid false sharing between the tables of workers.
class alignas(64) ChunkTable {
public:
    /// What every occurrence reads: two entries to a cache line. First positions are kept apart.
    struct Entry {
        std::int64_t count;
        std::uint32_t length;
        std::uint32_t tag;  // of the ChunkKey; `grow` rehashes with it, without reading the key
        union {
            std::uint64_t words[2];  // of a short key, padded with zeros
            const char* bytes;       // of a long key, in the arena
        };

        std::string_view key() const {
            return {length <= short_chunk ? reinterpret_cast<const char*>(words) : bytes, length};
        }
        bool holds(const ChunkKey& key) const {
            if (tag != key.tag || length != key.bytes.size()) return false;
            if (key.is_short()) return words[0] == key.low && words[1] == key.high;
            return std::memcmp(bytes, key.bytes.data(), length) == 0;
        }
        ChunkKey chunk_key() const {
            return length <= short_chunk ? ChunkKey{key(), words[0], words[1], tag} : ChunkKey{key(), 0, 0, tag};
        }
    };

    ChunkTable() : slots_(1024) {}

    /// Adds `count` occurrences of a chunk, the first of them at `position`. Returns the index of its entry.
    std::size_t add(const ChunkKey& key, std::int64_t count, std::int64_t position) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = key.tag & mask;
        for (; slots_[at].entry != 0; at = (at + 1) & mask) {
            if (slots_[at].tag != key.tag) continue;
            const std::size_t found = slots_[at].entry - 1;
            Entry& entry = entries_[found];
            if (!entry.holds(key)) continue;
            entry.count += count;
            if (position < last_position_) lower(found, position);
            return found;
        }
        insert(at, key, count, position);
        return entries_.size() - 1;
    }

    /// Prefetches the slot of a chunk that will be added soon; then, once the slot is here, its entry.
    void prefetch_slot(std::uint32_t tag) const { __builtin_prefetch(&slots_[tag & (slots_.size() - 1)], 1); }
    void prefetch_entry(std::uint32_t tag) const {
        const Slot slot = slots_[tag & (slots_.size() - 1)];
        if (slot.entry != 0) __builtin_prefetch(&entries_[slot.entry - 1], 1);
    }

    std::size_t size() const { return entries_.size(); }
    Entry& operator[](std::size_t i) { return entries_[i]; }
    const Entry& operator[](std::size_t i) const { return entries_[i]; }
    std::int64_t first_position(std::size_t i) const { return first_positions_[i]; }

    /// Bytes held.
    std::size_t memory() const {
        return slots_.size() * sizeof(Slot) + entries_.memory() + first_positions_.memory() + arena_bytes_;
    }

    /// Frees the slots, which only `add` needs; nothing may be added afterwards.
    void end_adding() { slots_ = {}; }

    /// Are the entries in order of first position? True if chunks were added in order.
    bool is_ordered() const { return ordered_; }

private:
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t entry = 0;  // index in entries_ + 1; 0 means empty
    };

    void insert(std::size_t slot, const ChunkKey& key, std::int64_t count, std::int64_t position);
    void lower(std::size_t entry, std::int64_t position);
    const char* keep(std::string_view bytes);
    void grow();

    HugeVector<Slot> slots_;  // a power of two, at most two thirds full
    BlockVector<Entry> entries_;
    BlockVector<std::int64_t> first_positions_;                              // by entry
    std::int64_t last_position_ = std::numeric_limits<std::int64_t>::min();  // the greatest first position
    bool ordered_ = true;

    std::vector<HugeArray<char>> arena_;  // blocks, so that keys never move
    char* arena_next_ = nullptr;
    std::size_t arena_left_ = 0;
    std::size_t arena_bytes_ = 0;  // of all blocks
};

}  // namespace prunedbpe
