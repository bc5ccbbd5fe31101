// Chunks seen before: bytes -> visible ids, without splitting again.
//
// Fixed memory, 5 MB, belonging to one thread at a time. A chunk has two places, side by side: a new one takes
// the first, moves what stood there to the second and overwrites that. What is frequent is soon back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "tokenizer/chunk_key.hpp"
#include "prunedbpe/huge_array.hpp"

namespace prunedbpe {

/// For chunks of up to 8 * words - 1 bytes, with as many ids as fit beside them in half a cache line (or a whole
/// one). In plain text nearly all chunks are found here, and whether one has one id or three is read and not
/// branched on.
template <std::size_t words, int bits>
class ChunkCache {
public:
    using Key = PaddedKey<words>;
    static constexpr std::size_t most_ids = 2 * words;
    static constexpr std::uint32_t id_limit = 1u << 29;  // three bits tell how many there are

    ChunkCache() : pairs_(make_huge_array<Pair>(std::size_t{1} << bits)) {
        std::memset(static_cast<void*>(pairs_.get()), 0, sizeof(Pair) << bits);  // no chunk has an empty key
    }

    /// The two places of a chunk.
    class Pair {
    public:
        /// Copies the ids to `out`, where there must be room for `most_ids`; returns their end, or nullptr for
        /// a chunk that is not here.
        std::uint32_t* copy(const Key& key, std::uint32_t* out) const {
            const unsigned is_first = key.equals(entries_[0].key), is_second = key.equals(entries_[1].key);
            // One question, not two: which of the places it is cannot be guessed.
            if ((is_first | is_second) == 0) [[unlikely]] return nullptr;
            const Entry& entry = entries_[is_second];
            const std::size_t head = entry.ids[0];
            std::memcpy(out, entry.ids, sizeof entry.ids);
            out[0] = static_cast<std::uint32_t>(head % id_limit);
            return out + head / id_limit + 1;
        }

        void add(const Key& key, std::span<const std::uint32_t> ids) {
            if (ids.size() > most_ids) return;
            entries_[1] = entries_[0];
            entries_[0].key = key;
            std::memcpy(entries_[0].ids, ids.data(), ids.size_bytes());
            entries_[0].ids[0] += static_cast<std::uint32_t>(ids.size() - 1) * id_limit;
        }

    private:
        struct Entry {
            Key key;
            std::uint32_t ids[most_ids];  // the first has in its three highest bits how many there are, less one
        };
        Entry entries_[2];
    };

    Pair* find(const Key& key) {
        Pair* const pair = &pairs_[key.hash() >> (64 - bits)];
        __builtin_prefetch(pair);
        if constexpr (sizeof(Pair) > 64) __builtin_prefetch(reinterpret_cast<const char*>(pair) + 64);
        return pair;
    }

private:
    HugeArray<Pair> pairs_;
};

using ShortChunkCache = ChunkCache<2, 16>;  // nearly all chunks; both places share a cache line
using LongChunkCache = ChunkCache<4, 13>;   // 16 to 31 bytes

}  // namespace prunedbpe
