// Chunks seen before: bytes -> visible ids, without encoding again.
//
// Owned by one thread at a time. A two-way associative cache: a new chunk takes the first entry of its bucket, moves the
// old first entry to the second and evicts that one. Frequent chunks are soon back. It starts with 320 KB, so that the
// first short text does not wait for memory, and grows to 40 MB while many new chunks come and enough are found again:
// text in many languages has a million different words.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "prunedbpe/huge_array.hpp"
#include "tokenizer/packed_chunk.hpp"

namespace prunedbpe {

/// For chunks of up to 8 * words - 1 bytes and `most_ids` ids: an entry is half a cache line, or a whole one. In plain
/// text nearly all chunks are found here. The number of ids is data, not control flow: a branch on it would be
/// mispredicted.
template <std::size_t words, int first_bits, int last_bits>
class ChunkCache {
public:
    using Key = PackedChunk<words>;
    static constexpr std::size_t most_ids = 2 * words;
    static constexpr std::uint32_t id_limit = 1u << 29;  ///< ids are below; the three bits above hold their number

    struct Entry {
        Key key;                      ///< empty in a free entry
        std::uint32_t ids[most_ids];  ///< the first also holds, in its highest three bits, the number of ids less one
    };

    ChunkCache() : buckets_(make_huge_array<Bucket>(first_size)) {
        set_size(first_size);
        clear(0, first_size);
    }

    /// The two entries where a chunk can be.
    class Bucket {
    public:
        /// Copies the ids to `out`, which has room for `most_ids`, and returns their end; nullptr for a chunk that is
        /// not here.
        std::uint32_t* copy(const Key& key, std::uint32_t* out) const {
            const unsigned is_first = key.equals(entries_[0].key), is_second = key.equals(entries_[1].key);
            // One branch, not two: which entry it is cannot be predicted.
            if ((is_first | is_second) == 0) [[unlikely]] return nullptr;
            const Entry& entry = entries_[is_second];
            const std::size_t count_and_id = entry.ids[0];
            std::memcpy(out, entry.ids, sizeof entry.ids);
            out[0] = static_cast<std::uint32_t>(count_and_id % id_limit);
            return out + count_and_id / id_limit + 1;
        }

    private:
        friend class ChunkCache;
        Entry& make_room() {
            entries_[1] = entries_[0];
            return entries_[0];
        }
        Entry entries_[2];
    };

    /// The bucket of a chunk, prefetched.
    Bucket* find(const Key& key) {
        constexpr int shift = 64 - last_bits - std::countr_zero(sizeof(Bucket));
        char* const first = reinterpret_cast<char*>(buckets_.get());
        auto* const bucket = reinterpret_cast<Bucket*>(first + (key.hash() >> shift & offset_mask_));
        __builtin_prefetch(bucket);
        if constexpr (sizeof(Bucket) > 64) __builtin_prefetch(reinterpret_cast<const char*>(bucket) + 64);
        return bucket;
    }

    /// In buckets.
    std::size_t size() const { return offset_mask_ / sizeof(Bucket) + 1; }

    /// Adds a new chunk to its bucket, unless it has too many ids.
    void add(Bucket& bucket, const Key& key, std::span<const std::uint32_t> ids) {
        ++added_;
        if (ids.size() > most_ids) return;
        Entry& entry = bucket.make_room();
        entry.key = key;
        std::memcpy(entry.ids, ids.data(), ids.size_bytes());
        entry.ids[0] += static_cast<std::uint32_t>(ids.size() - 1) * id_limit;
    }

    /// Counts lookups, whether the chunk was known or new.
    void count_lookups(std::size_t chunks) { lookups_ += chunks; }

    /// Grows once encoding the new chunks has cost more than the memory will, if at least one lookup in five succeeded.
    /// Invalidates buckets.
    void grow_if_useful() {
        if (added_ < (is_small() ? size() / 2 : size() / 2 * 3)) [[likely]] return;
        if (size() < last_size && 4 * lookups_ > 5 * added_) grow();
        lookups_ = added_ = 0;
    }

private:
    static constexpr std::size_t first_size = std::size_t{1} << first_bits, last_size = std::size_t{1} << last_bits;

    /// Up to an eighth of the final size it grows quickly: nearly every text needs that much.
    bool is_small() const { return size() < last_size / 8; }

    void set_size(std::size_t size) { offset_mask_ = (size - 1) * sizeof(Bucket); }

    void clear(std::size_t first, std::size_t last) {
        std::memset(static_cast<void*>(buckets_.get() + first), 0, (last - first) * sizeof(Bucket));
    }

    /// The first time, moves to an allocation of the final size, which costs nothing until it is touched. Later grows in
    /// place: an entry stays in its bucket or moves to one after all old buckets.
    void grow() {
        const std::size_t old_size = size(), new_size = old_size * (is_small() ? 4 : 2);
        HugeArray<Bucket> old_buckets;
        if (old_size == first_size) old_buckets = std::exchange(buckets_, make_huge_array<Bucket>(last_size));
        clear(old_buckets ? 0 : old_size, new_size);
        set_size(new_size);
        Bucket* const from = old_buckets ? old_buckets.get() : buckets_.get();
        for (std::size_t i = 0; i < old_size; ++i) {
            const Bucket old = std::exchange(from[i], {});
            for (const Entry* entry : {&old.entries_[1], &old.entries_[0]}) {  // the newer one last
                if (!entry->key.is_empty()) find(entry->key)->make_room() = *entry;
            }
        }
    }

    HugeArray<Bucket> buckets_;
    std::size_t offset_mask_;                ///< of byte offsets of buckets
    std::size_t lookups_ = 0, added_ = 0;    ///< since the last decision to grow or not
};

using ShortChunkCache = ChunkCache<2, 12, 19>;  ///< nearly all chunks; a bucket is a cache line
using LongChunkCache = ChunkCache<4, 9, 16>;    ///< 16 to 31 bytes

}  // namespace prunedbpe
