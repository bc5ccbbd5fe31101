// A hash table of chunks: short keys inside the entries, long ones in an arena, open addressing, no
// allocation per chunk.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "counts/chunk_key.hpp"
#include "prunedbpe/huge_array.hpp"
#include "util/block_vector.hpp"

namespace prunedbpe {

/// Tables of different workers lie side by side, and must not share a cache line.
class alignas(64) ChunkTable {
public:
    /// What is read at every occurrence, two to a cache line; first positions are kept apart.
    struct Entry {
        std::int64_t count;
        std::uint32_t length;
        std::uint32_t tag;  // of the key's hash: growing need not read the keys again
        union {
            std::uint64_t words[2];  // a short key
            const char* bytes;       // a long one, in the arena
        };

        std::string_view key() const {
            return {length <= short_chunk ? reinterpret_cast<const char*>(words) : bytes, length};
        }
        bool holds(const ChunkKey& key) const {
            if (tag != key.tag || length != key.bytes.size()) return false;
            if (key.is_short()) return words[0] == key.low && words[1] == key.high;
            return std::memcmp(bytes, key.bytes.data(), length) == 0;
        }
    };

    ChunkTable() : slots_(1024) {}

    /// Adds `count` occurrences, the first at `position`.
    void add(const ChunkKey& key, std::int64_t count, std::int64_t position) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = key.tag & mask;
        for (; slots_[at].entry != 0; at = (at + 1) & mask) {
            if (slots_[at].tag != key.tag) continue;
            const std::size_t found = slots_[at].entry - 1;
            Entry& entry = entries_[found];
            if (!entry.holds(key)) continue;
            entry.count += count;
            if (position < last_position_) lower(found, position);
            return;
        }
        insert(at, key, count, position);
    }

    /// For a chunk that `add` will be called with soon: two steps, each of which waits for the memory
    /// the one before has asked for.
    void prefetch_slot(std::uint32_t tag) const { __builtin_prefetch(&slots_[tag & (slots_.size() - 1)], 1); }
    void prefetch_entry(std::uint32_t tag) const {
        const Slot slot = slots_[tag & (slots_.size() - 1)];
        if (slot.entry != 0) __builtin_prefetch(&entries_[slot.entry - 1], 1);
    }

    std::size_t size() const { return entries_.size(); }
    Entry& operator[](std::size_t i) { return entries_[i]; }
    const Entry& operator[](std::size_t i) const { return entries_[i]; }
    std::int64_t first_position(std::size_t i) const { return first_positions_[i]; }

    /// Gives back what only look-ups need; nothing can be added any more.
    void end_look_ups() { slots_ = {}; }

    /// Are the entries in order of first position? So they are if additions were.
    bool is_ordered() const { return ordered_; }

private:
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t entry = 0;  // place in entries_ + 1; 0 means empty
    };

    void insert(std::size_t slot, const ChunkKey& key, std::int64_t count, std::int64_t position);
    void lower(std::size_t entry, std::int64_t position);
    const char* keep(std::string_view bytes);
    void grow();

    HugeVector<Slot> slots_;  // a power of two, at most two thirds full
    BlockVector<Entry> entries_;
    BlockVector<std::int64_t> first_positions_;
    std::int64_t last_position_ = std::numeric_limits<std::int64_t>::min();  // the greatest of them
    bool ordered_ = true;

    // Arena of long keys: blocks, so that keys never move.
    std::vector<HugeArray<char>> arena_;
    char* arena_next_ = nullptr;
    std::size_t arena_left_ = 0;
};

}  // namespace prunedbpe
