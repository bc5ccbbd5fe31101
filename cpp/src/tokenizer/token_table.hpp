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

    /// The id of the token, or `none`: longer than 11 bytes, internal, or no token.
    std::uint32_t find(const ShortKey& key) const {
        const std::uint64_t hash = key.hash();
        const Entry& entry = entries_[place(hash, displacements_[hash >> group_shift_])];
        return ((entry.low ^ key.low) | (entry.high ^ key.high)) == 0 ? entry.id : none;
    }

private:
    struct Entry {  // four to a cache line
        std::uint64_t low = 0;
        std::uint32_t high = 0;  // no key has 0: the entry is free
        std::uint32_t id = none;
    };
    static_assert(sizeof(Entry) == 16);

    std::size_t place(std::uint64_t hash, std::uint32_t displacement) const {
        return hash * (2 * displacement + 1) >> place_shift_;
    }

    std::vector<std::uint8_t> displacements_;  // a power of two, about one for four tokens
    std::vector<Entry> entries_;               // a power of two, at most half full
    int group_shift_;
    int place_shift_;
};

}  // namespace prunedbpe
