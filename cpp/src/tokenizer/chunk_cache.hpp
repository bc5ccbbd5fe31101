// Chunks seen before: bytes -> visible ids, without splitting again.
//
// Belongs to one thread at a time. A chunk has two places, side by side: a new one takes the first, moves what
// stood there to the second and overwrites that. What is frequent is soon back. The memory begins with 320 KB, so that
// a first short text need not wait for more, and grows while many new chunks come and enough are found again, up to
// 40 MB: a text of many languages has a million different words.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "tokenizer/chunk_key.hpp"
#include "prunedbpe/huge_array.hpp"

namespace prunedbpe {

/// For chunks of up to 8 * words - 1 bytes, with as many ids as fit beside them in half a cache line (or a whole
/// one). In plain text nearly all chunks are found here, and whether one has one id or three is read and not
/// branched on.
template <std::size_t words, int first_bits, int last_bits>
class ChunkCache {
public:
    using Key = PaddedKey<words>;
    static constexpr std::size_t most_ids = 2 * words;
    static constexpr std::uint32_t id_limit = 1u << 29;  // three bits tell how many there are

    struct Entry {
        Key key;
        std::uint32_t ids[most_ids];  // the first has in its three highest bits how many there are, less one
    };

    ChunkCache() : pairs_(make_huge_array<Pair>(first_pairs)) {
        set_size(first_pairs);
        clear(0, first_pairs);
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

    private:
        friend class ChunkCache;
        Entry& make_room() {
            entries_[1] = entries_[0];
            return entries_[0];
        }
        Entry entries_[2];
    };

    Pair* find(const Key& key) {
        constexpr int shift = 64 - last_bits - std::countr_zero(sizeof(Pair));
        char* const first = reinterpret_cast<char*>(pairs_.get());
        auto* const pair = reinterpret_cast<Pair*>(first + (key.hash() >> shift & place_mask_));
        __builtin_prefetch(pair);
        if constexpr (sizeof(Pair) > 64) __builtin_prefetch(reinterpret_cast<const char*>(pair) + 64);
        return pair;
    }

    /// In pairs.
    std::size_t size() const { return place_mask_ / sizeof(Pair) + 1; }

    /// Puts a new chunk into its places.
    void add(Pair& pair, const Key& key, std::span<const std::uint32_t> ids) {
        ++added_;
        if (ids.size() > most_ids) return;
        Entry& entry = pair.make_room();
        entry.key = key;
        std::memcpy(entry.ids, ids.data(), ids.size_bytes());
        entry.ids[0] += static_cast<std::uint32_t>(ids.size() - 1) * id_limit;
    }

    /// So many chunks were looked up, known or new.
    void count_asked(std::size_t chunks) { asked_ += chunks; }

    /// Takes more memory if so many new chunks came since the last time that splitting them has cost more than the
    /// memory will, and one in five or more was known. A pair found before is no longer valid.
    void grow_if_useful() {
        if (added_ < (is_small() ? size() / 2 : size() / 2 * 3)) [[likely]] return;
        if (size() < most_pairs && 4 * asked_ > 5 * added_) grow();
        asked_ = added_ = 0;
    }

private:
    static constexpr std::size_t first_pairs = std::size_t{1} << first_bits, most_pairs = std::size_t{1} << last_bits;

    /// Up to an eighth of the most it is quick to grow: that much nearly every text needs.
    bool is_small() const { return size() < most_pairs / 8; }

    void set_size(std::size_t size) { place_mask_ = (size - 1) * sizeof(Pair); }

    /// No chunk has an empty key.
    void clear(std::size_t first, std::size_t last) {
        std::memset(static_cast<void*>(pairs_.get() + first), 0, (last - first) * sizeof(Pair));
    }

    /// The first time into memory with room for all there may ever be, which costs nothing before it is touched. Later
    /// in place: what stands in a pair stays there or goes to one that lies behind all old ones.
    void grow() {
        const std::size_t old_size = size(), new_size = old_size * (is_small() ? 4 : 2);
        HugeArray<Pair> first;
        if (old_size == first_pairs) first = std::exchange(pairs_, make_huge_array<Pair>(most_pairs));
        clear(first ? 0 : old_size, new_size);
        set_size(new_size);
        Pair* const pairs = first ? first.get() : pairs_.get();
        for (std::size_t i = 0; i < old_size; ++i) {
            const Pair old = std::exchange(pairs[i], {});
            for (const Entry* entry : {&old.entries_[1], &old.entries_[0]}) {  // the newer comes last
                if (!entry->key.is_empty()) find(entry->key)->make_room() = *entry;
            }
        }
    }

    HugeArray<Pair> pairs_;
    std::size_t place_mask_;  // of the bytes between the first pair and the wanted one
    std::size_t asked_ = 0, added_ = 0;  // since it was last seen whether more memory would help
};

using ShortChunkCache = ChunkCache<2, 12, 19>;  // nearly all chunks; both places share a cache line
using LongChunkCache = ChunkCache<4, 9, 16>;    // 16 to 31 bytes

}  // namespace prunedbpe
