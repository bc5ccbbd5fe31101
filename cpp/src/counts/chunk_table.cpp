#include "counts/chunk_table.hpp"

#include <algorithm>
#include <stdexcept>

namespace prunedbpe {

void ChunkTable::insert(std::size_t slot, const ChunkKey& key, std::int64_t count, std::int64_t position) {
    if (key.bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw std::length_error("a chunk is longer than 4 GiB; cut the document or choose a pretokenizer");
    }
    Entry entry{count, static_cast<std::uint32_t>(key.bytes.size()), key.tag, {{key.low, key.high}}};
    if (!key.is_short()) entry.bytes = keep(key.bytes);
    entries_.push_back(entry);
    first_positions_.push_back(position);
    ordered_ = ordered_ && position >= last_position_;
    last_position_ = std::max(last_position_, position);
    slots_[slot] = {key.tag, static_cast<std::uint32_t>(entries_.size())};
    if (entries_.size() * 3 > slots_.size() * 2) grow();
}

void ChunkTable::lower(std::size_t entry, std::int64_t position) {
    if (position >= first_positions_[entry]) return;
    first_positions_[entry] = position;
    ordered_ = false;
}

const char* ChunkTable::keep(std::string_view bytes) {
    constexpr std::size_t first_block = 1 << 16, largest_block = 1 << 21;  // a huge page
    if (bytes.size() > arena_left_) {
        const std::size_t block = std::min(first_block << std::min<std::size_t>(arena_.size(), 5), largest_block);
        // A very long key gets a block of its own; the current block stays in use.
        if (bytes.size() > block / 8) {
            arena_.push_back(make_huge_array<char>(bytes.size()));
            arena_bytes_ += bytes.size();
            std::memcpy(arena_.back().get(), bytes.data(), bytes.size());
            return arena_.back().get();
        }
        arena_.push_back(make_huge_array<char>(block));
        arena_bytes_ += block;
        arena_next_ = arena_.back().get();
        arena_left_ = block;
    }
    char* const kept = arena_next_;
    std::memcpy(kept, bytes.data(), bytes.size());
    arena_next_ += bytes.size();
    arena_left_ -= bytes.size();
    return kept;
}

void ChunkTable::grow() {
    if (entries_.size() >= std::numeric_limits<std::uint32_t>::max() / 2) {
        throw std::length_error("more than two billion unique chunks; count the corpus in shards");
    }
    // Rebuild from the entries, so that the old slots can be freed first.
    const std::size_t size = slots_.size() * 2, mask = size - 1;
    slots_ = {};
    slots_.resize(size);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        std::size_t at = entries_[i].tag & mask;
        while (slots_[at].entry != 0) at = (at + 1) & mask;
        slots_[at] = {entries_[i].tag, static_cast<std::uint32_t>(i + 1)};
    }
}

}  // namespace prunedbpe
