// Chunks seen before: bytes -> visible ids, without splitting again.
//
// Fixed memory, 2 MB, belonging to one thread at a time. A chunk has two places: a new one takes the first,
// moves what stood there to the second and overwrites that. What is frequent is soon back.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tokenizer/chunk_key.hpp"

namespace prunedbpe {

class ChunkCache {
public:
    static constexpr std::size_t longest_chunk = 31, most_ids = 7;

    /// One cache line.
    struct alignas(64) Entry {
        std::uint64_t words[4];  // the chunk padded with zeros, its length last
        std::uint32_t ids[most_ids];
        std::uint32_t count;
    };
    static_assert(sizeof(Entry) == 64);

    /// A chunk of 1 to 31 bytes, and the place that is or becomes its own.
    struct Question {
        std::uint64_t words[4];
        Entry* entry;

        /// Sets `entry` to the place that holds the chunk, if one does.
        bool is_answered() {
            if (is_at(entry)) return true;
            Entry* const second = entry + 1;
            if (!is_at(second)) return false;
            entry = second;
            return true;
        }

        void answer(std::span<const std::uint32_t> ids) const {
            if (ids.size() > most_ids) return;
            entry[1] = entry[0];
            for (int i = 0; i < 4; ++i) entry->words[i] = words[i];
            for (std::size_t i = 0; i < ids.size(); ++i) entry->ids[i] = ids[i];
            entry->count = static_cast<std::uint32_t>(ids.size());
        }

    private:
        bool is_at(const Entry* place) const {
            std::uint64_t differences = 0;
            for (int i = 0; i < 4; ++i) differences |= words[i] ^ place->words[i];
            return differences == 0;
        }
    };

    /// The chunk [at, at + size) of a text that ends at `end`.
    void ask(const char* at, std::size_t size, const char* end, Question& question) {
        std::uint64_t(&words)[4] = question.words;
        load_padded(at, size, end, words);
        words[3] |= std::uint64_t{size} << 56;
        const std::uint64_t hash = mix(mix(words[0] ^ 0x9E3779B97F4A7C15, words[1] ^ 0xD6E8FEB86659FD93) ^ words[2],
                                       words[3] ^ 0xA0761D6478BD642F);
        question.entry = &entries_[hash >> (64 - bits) << 1];
        __builtin_prefetch(question.entry);
        __builtin_prefetch(question.entry + 1);
    }

private:
    static constexpr int bits = 14;
    std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{2} << bits);
};

}  // namespace prunedbpe
