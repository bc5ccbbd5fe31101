// Short chunks as numbers: compared and hashed in registers, without a loop over their bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "util/hash.hpp"

namespace prunedbpe {

static_assert(std::endian::native == std::endian::little, "keys keep the first bytes of a load");

/// Bytes of ones, then of zeros: a load from the middle is the mask that keeps the first so many bytes.
template <std::size_t width>
struct Ramp {
    unsigned char bytes[2 * width];
    constexpr Ramp() : bytes{} {
        for (std::size_t i = 0; i < width; ++i) bytes[i] = 0xFF;
    }
};

/// The chunk [at, at + size) of a text that ends at `end`, padded with zeros to whole words. Where the
/// text goes on far enough it is loads and masks of fixed size; size may not exceed 8 * words.
/// `roomy` tells that it does go on.
template <std::size_t words, bool roomy = false>
inline void load_padded(const char* at, std::size_t size, const char* end, std::uint64_t (&key)[words]) {
    constexpr std::size_t width = 8 * words;
    static constexpr Ramp<width> ramp;
    if (roomy || end - at >= static_cast<std::ptrdiff_t>(width)) [[likely]] {
        const char* const mask = reinterpret_cast<const char*>(ramp.bytes) + width - size;
        for (std::size_t i = 0; i < words; ++i) key[i] = load_64(at + 8 * i) & load_64(mask + 8 * i);
    } else {
        for (std::uint64_t& word : key) word = 0;
        std::memcpy(key, at, size);
    }
}

/// Up to 8 * words - 1 bytes, with the length as the last: it keeps "a" and "a\0" apart, and a key from being zero.
template <std::size_t word_count>
struct PaddedKey {
    static constexpr std::size_t capacity = 8 * word_count - 1;

    std::uint64_t words[word_count];

    template <bool roomy = false>
    static PaddedKey of(const char* at, std::size_t size, const char* end) {
        PaddedKey key;
        load_padded<word_count, roomy>(at, size, end, key.words);
        key.words[word_count - 1] |= std::uint64_t{size} << 56;
        return key;
    }

    /// 0 if they are the same.
    std::uint64_t differences(const PaddedKey& other) const {
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < word_count; ++i) found |= words[i] ^ other.words[i];
        return found;
    }

    /// Good in its high bits.
    std::uint64_t hash() const {
        std::uint64_t hash = words[0] * 0x9E3779B97F4A7C15;
        for (std::size_t i = 1; i < word_count; ++i) hash = mix(hash ^ words[i], 0xD6E8FEB86659FD93);
        return hash;
    }
};

}  // namespace prunedbpe
