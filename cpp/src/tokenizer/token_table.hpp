// Chunks that are one visible token: bytes -> id by one probe.
//
// A token encodes to itself (Vocabulary checks it), so a chunk that spells a token needs no merging.
// In plain text most chunks do. Every token has a place of its own (hash and displace: a small table says,
// for each group of tokens, which of 256 hashes keeps them apart), so one comparison decides: there is no
// chain of places to follow, and no guess of its length to go wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "tokenizer/chunk_key.hpp"
#include "tokenizer/expansions.hpp"

namespace prunedbpe {

class TokenTable {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFF;

    TokenTable(const Expansions& expansions, const TokenStrings& strings);

    struct Entry {  // four to a cache line
        std::uint64_t low = 0;
        std::uint32_t high = 0;  // no key has 0: the entry is free
        std::uint32_t id = none;

        /// The id, if it is the token asked for, or `none`.
        std::uint32_t id_of(const ShortKey& key) const {
            return ((low ^ key.low) | (high ^ key.high)) == 0 ? id : none;
        }
    };
    static_assert(sizeof(Entry) == 16);

    /// The only entry that may hold the token; not all tokens have one (longer than 11 bytes, internal).
    const Entry* find(const ShortKey& key) const {
        const std::uint64_t hash = key.hash();
        return &entries_[place(hash, displacements_[hash >> group_shift_])];
    }

    /// For what has no key.
    const Entry* any_entry() const { return entries_.data(); }

private:
    std::size_t place(std::uint64_t hash, std::uint32_t displacement) const {
        return hash * (2 * displacement + 1) >> place_shift_;
    }

    std::vector<std::uint8_t> displacements_;  // a power of two, about one for four tokens
    std::vector<Entry> entries_;               // a power of two, at most half full
    int group_shift_;
    int place_shift_;
};

}  // namespace prunedbpe
