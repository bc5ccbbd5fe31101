#include "count/chunk_table.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "util/hash.hpp"

namespace prunedbpe {

void ChunkTable::add(std::string_view chunk, std::int64_t count, std::int64_t position) {
    const auto tag = static_cast<std::uint32_t>(hash_bytes(chunk));
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = tag & mask;
    for (; slots_[at].entry != 0; at = (at + 1) & mask) {
        if (slots_[at].tag != tag) continue;
        Entry& entry = entries_[slots_[at].entry - 1];
        if (key(entry) == chunk) {
            entry.count += count;
            entry.first_position = std::min(entry.first_position, position);
            return;
        }
    }
    if (chunk.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw std::length_error("a chunk is longer than 4 GiB; cut the document or choose a pretokenizer");
    }
    entries_.push_back({arena_.size(), count, position, static_cast<std::uint32_t>(chunk.size()), tag});
    arena_.insert(arena_.end(), chunk.begin(), chunk.end());
    slots_[at] = {tag, static_cast<std::uint32_t>(entries_.size())};
    if (entries_.size() * 3 > slots_.size() * 2) grow();
}

void ChunkTable::grow() {
    if (entries_.size() >= std::numeric_limits<std::uint32_t>::max() / 2) {
        throw std::length_error("more than two thousand million unique chunks; count the corpus in shards");
    }
    std::vector<Slot> larger(slots_.size() * 2);
    const std::size_t mask = larger.size() - 1;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        std::size_t at = entries_[i].tag & mask;
        while (larger[at].entry != 0) at = (at + 1) & mask;
        larger[at] = {entries_[i].tag, static_cast<std::uint32_t>(i + 1)};
    }
    slots_ = std::move(larger);
}

}  // namespace prunedbpe
