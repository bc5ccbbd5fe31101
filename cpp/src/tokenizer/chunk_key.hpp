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

/// Up to 11 bytes; the length, in the last byte, keeps "a" and "a\0" apart, and a key from being zero.
struct ShortKey {
    static constexpr std::size_t capacity = 11;

    std::uint64_t low = 0;
    std::uint32_t high = 0;

    template <bool roomy = false>
    static ShortKey of(const char* at, std::size_t size, const char* end) {
        std::uint64_t words[2];
        load_padded<2, roomy>(at, size, end, words);
        return {words[0], static_cast<std::uint32_t>(words[1] | size << 24)};
    }

    /// Good in its high bits.
    std::uint64_t hash() const { return low * 0x9E3779B97F4A7C15 + high * 0xD6E8FEB86659FD93; }
};

}  // namespace prunedbpe
