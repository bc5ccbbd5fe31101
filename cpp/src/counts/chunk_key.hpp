// A chunk as a key of the chunk table: its hash, and its bytes as two machine words if it is short.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "util/hash.hpp"

namespace prunedbpe {

/// Chunks up to this length are stored in their table entry and compared as two words. Nearly all chunks of
/// alphabetic text are this short.
inline constexpr std::size_t short_chunk = 16;

struct ChunkKey {
    std::string_view bytes;
    std::uint64_t low = 0;   ///< bytes 0-7 of a short chunk, padded with zeros; 0 for a long one
    std::uint64_t high = 0;  ///< bytes 8-15, the same way
    std::uint32_t tag = 0;   ///< low half of the hash

    bool is_short() const { return bytes.size() <= short_chunk; }
};

/// `readable_end`: bytes after the chunk may be read up to here.
inline ChunkKey make_chunk_key(std::string_view bytes, const char* readable_end) {
    ChunkKey key{bytes};
    std::uint64_t hash;
    if (key.is_short()) {
        const std::size_t size = bytes.size();
        if (readable_end - bytes.data() >= static_cast<std::ptrdiff_t>(short_chunk)) [[likely]] {
            // Two loads and a mask avoid the branch misprediction of a copy of variable length.
            const auto keep = [](std::size_t count) {
                return count >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * count)) - 1;
            };
            key.low = load_64(bytes.data()) & keep(size);
            key.high = size > 8 ? load_64(bytes.data() + 8) & keep(size - 8) : 0;
        } else {
            char padded[short_chunk] = {};
            std::memcpy(padded, bytes.data(), size);
            key.low = load_64(padded);
            key.high = load_64(padded + 8);
        }
        hash = mix(key.low ^ 0x9E3779B97F4A7C15 ^ size, key.high ^ 0xD6E8FEB86659FD93);
    } else {
        hash = hash_bytes(bytes);
    }
    key.tag = static_cast<std::uint32_t>(hash);
    return key;
}

}  // namespace prunedbpe
