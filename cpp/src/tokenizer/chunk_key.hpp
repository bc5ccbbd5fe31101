// Short chunks as numbers: compared and hashed in registers, without a loop over their bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "util/hash.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

    std::size_t size() const { return words[word_count - 1] >> 56; }

    /// 1 if they are the same, else 0: as a number, because nobody shall branch on it.
    unsigned equals(const PaddedKey& other) const {
#if defined(__SSE2__)
        // Two words at a time.
        static_assert(word_count % 2 == 0);
        const auto same = [&](std::size_t i) {
            return _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(words + i)),
                                  _mm_loadu_si128(reinterpret_cast<const __m128i*>(other.words + i)));
        };
        __m128i all = same(0);
        for (std::size_t i = 2; i < word_count; i += 2) all = _mm_and_si128(all, same(i));
        return (static_cast<unsigned>(_mm_movemask_epi8(all)) + 1) >> 16;
#else
        std::uint64_t differences = 0;
        for (std::size_t i = 0; i < word_count; ++i) differences |= words[i] ^ other.words[i];
        return differences == 0;
#endif
    }

    /// No chunk's key: its length is zero.
    bool is_empty() const { return words[word_count - 1] == 0; }

    /// Good in its high bits.
    std::uint64_t hash() const {
        constexpr std::uint64_t factors[] = {0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xC2B2AE3D27D4EB4F, 0xA0761D6478BD642F};
        std::uint64_t hash = 0;
        for (std::size_t i = 0; i < word_count; ++i) hash += words[i] * factors[i];
        return hash;
    }
};

}  // namespace prunedbpe
