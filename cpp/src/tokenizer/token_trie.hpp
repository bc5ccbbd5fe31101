// The longest token at a place of the text: a trie over the bytes of all tokens, as a double array.
//
// Node n's child by byte c is slot base(n) ^ c, if that slot carries the label c. No two nodes share a
// base, so the label alone tells whose child a slot is, and a node fits into eight bytes: a step is one
// load, which the next step's address waits for. Every node also knows the longest token that begins
// its string, and how long that is, so a walk remembers nothing on its way and the next one begins without
// another load.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prunedbpe/types.hpp"

namespace prunedbpe {

class TokenTrie {
public:
    static constexpr std::uint32_t none = (1u << 23) - 1;

    /// All 256 bytes are tokens, so something always matches.
    explicit TokenTrie(std::span<const Merge> merges);

    struct Match {
        std::uint32_t rank;
        std::uint32_t length;  ///< in bytes; 0 for 256 and more
    };

    /// The longest token that [at, end) begins with; needs at < end.
    Match longest(const char* at, const char* end) const {
        if (end - at < 2) [[unlikely]] return {static_cast<unsigned char>(*at), 1};
        // The first two steps at once. Text keeps to few pairs of bytes, which stay in the cache.
        const auto first = static_cast<unsigned char>(at[0]), second = static_cast<unsigned char>(at[1]);
        std::uint64_t node = starts_[first << 8 | second];
        for (at += 2; at < end; ++at) {
            const auto byte = static_cast<unsigned char>(*at);
            const std::uint64_t child = nodes_[base_of(node) ^ byte];
            if (label_of(child) != byte) break;
            node = child;
        }
        return {static_cast<std::uint32_t>(node >> rank_shift) & none, static_cast<std::uint32_t>(node >> length_shift)};
    }

    /// By rank, the longest token that is a proper prefix of the token, or `none` for a byte.
    const std::vector<std::uint32_t>& shorter() const { return shorter_; }

private:
    static constexpr std::uint32_t root = 0;
    // From the low bits: base 24, label 9 (a byte, or no_label in a free slot), longest token 23, its length 8.
    static constexpr int base_bits = 24, rank_shift = 33, length_shift = 56;
    static constexpr std::uint64_t no_label = 256;

    static std::size_t base_of(std::uint64_t node) { return node & ((1u << base_bits) - 1); }
    static std::uint64_t label_of(std::uint64_t node) { return node >> base_bits & 0x1FF; }
    static std::uint64_t make_node(std::size_t base, std::uint64_t label, std::uint32_t rank, std::size_t length) {
        return base | label << base_bits | std::uint64_t{rank} << rank_shift |
               std::uint64_t{length < 256 ? length : 0} << length_shift;
    }

    std::vector<std::uint64_t> nodes_;
    std::vector<std::uint64_t> starts_;  // the node by the first two bytes; where there is none, a leaf for the first
    std::vector<std::uint32_t> shorter_;
};

}  // namespace prunedbpe
