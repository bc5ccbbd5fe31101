// Chunks that are one visible token: bytes -> id by one probe.
//
// A token encodes to itself (Vocabulary checks it), so a chunk that spells a token needs no merging.
// In plain text most chunks do.
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
        for (std::size_t at = key.hash() >> shift_;; at = (at + 1) & mask_) {
            const Entry& entry = entries_[at];
            if (entry.low == key.low && entry.high == key.high) [[likely]] return entry.id;
            if (entry.high == 0) return none;
        }
    }

private:
    struct Entry {  // four to a cache line
        std::uint64_t low;
        std::uint32_t high;  // 0: free
        std::uint32_t id;
    };
    static_assert(sizeof(Entry) == 16);

    // A power of two, at most half full. Tokens are entered by rank, so the frequent ones are found at once.
    std::vector<Entry> entries_;
    std::size_t mask_;
    int shift_;
};

}  // namespace prunedbpe
