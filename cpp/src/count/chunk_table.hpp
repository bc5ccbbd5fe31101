// A hash table of chunks: keys in one arena, open addressing, no allocation per chunk.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace prunedbpe {

class ChunkTable {
public:
    struct Entry {
        std::uint64_t key_begin;  // into the arena
        std::int64_t count;
        std::int64_t first_position;
        std::uint32_t key_length;
        std::uint32_t tag;  // low half of the key's hash: growing need not read the keys again
    };

    ChunkTable() : slots_(1024) {}

    /// Adds `count` occurrences, the first at `position`.
    void add(std::string_view chunk, std::int64_t count, std::int64_t position);

    std::size_t size() const { return entries_.size(); }
    const std::vector<Entry>& entries() const { return entries_; }
    std::string_view key(const Entry& entry) const { return {arena_.data() + entry.key_begin, entry.key_length}; }

private:
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t entry = 0;  // place in entries_ + 1; 0 means empty
    };

    void grow();

    std::vector<Slot> slots_;  // a power of two, at most two thirds full
    std::vector<Entry> entries_;
    std::vector<char> arena_;
};

}  // namespace prunedbpe
