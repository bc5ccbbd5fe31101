// Text of two bytes per character to UTF-8, eight characters at a time.
#pragma once

#include <cstdint>

#include "util/simd/level.hpp"

#ifdef PRUNEDBPE_AVX2

namespace prunedbpe::simd::avx2 {

/// Shuffles that pack four characters, each stored at the start of its own four bytes. The index has eight bits: the low
/// four say which characters have one byte, the high four which have at most two.
struct Compaction {
    alignas(16) std::uint8_t shuffles[256][16];
    std::uint8_t lengths[256];  ///< bytes of the four characters

    constexpr Compaction() : shuffles{}, lengths{} {
        for (unsigned bits = 0; bits < 256; ++bits) {
            std::uint8_t length = 0;
            for (unsigned i = 0; i < 4; ++i) {
                const unsigned bytes = bits >> i & 1 ? 1 : bits >> (i + 4) & 1 ? 2 : 3;
                for (unsigned j = 0; j < bytes; ++j) shuffles[bits][length++] = static_cast<std::uint8_t>(4 * i + j);
            }
            lengths[bits] = length;
        }
    }
};
inline constexpr Compaction compaction;

/// Stores sixteen bytes and advances by those that count.
[[PRUNEDBPE_AVX2, gnu::always_inline]] inline void write_four(__m128i bytes, unsigned bits, char*& out) {
    const __m128i shuffle = _mm_load_si128(reinterpret_cast<const __m128i*>(compaction.shuffles[bits]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_shuffle_epi8(bytes, shuffle));
    out += compaction.lengths[bits];
}

/// Encodes each character as if it had one, two and three bytes, the first one lowest, and keeps the right one.
[[PRUNEDBPE_AVX2, gnu::always_inline]] inline void write_eight(__m128i characters, char*& out) {
    const __m256i one = _mm256_cvtepu16_epi32(characters);
    const __m256i last_six = _mm256_and_si256(one, _mm256_set1_epi32(0x3F));
    const __m256i two = _mm256_or_si256(_mm256_srli_epi32(one, 6), _mm256_slli_epi32(last_six, 8));
    const __m256i middle_six = _mm256_and_si256(_mm256_slli_epi32(one, 2), _mm256_set1_epi32(0x3F00));
    const __m256i three =
        _mm256_or_si256(_mm256_or_si256(_mm256_srli_epi32(one, 12), middle_six), _mm256_slli_epi32(last_six, 16));
    const __m256i is_one = _mm256_cmpgt_epi32(_mm256_set1_epi32(0x80), one);
    const __m256i is_two = _mm256_cmpgt_epi32(_mm256_set1_epi32(0x800), one);
    const __m256i longer = _mm256_blendv_epi8(_mm256_or_si256(three, _mm256_set1_epi32(0x8080E0)),
                                              _mm256_or_si256(two, _mm256_set1_epi32(0x80C0)), is_two);
    const __m256i bytes = _mm256_blendv_epi8(longer, one, is_one);
    const auto ones = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(is_one)));
    const auto twos = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(is_two)));
    write_four(_mm256_castsi256_si128(bytes), (ones & 0x0F) | (twos & 0x0F) << 4, out);
    write_four(_mm256_extracti128_si256(bytes, 1), ones >> 4 | (twos & 0xF0), out);
}

/// How far writing came. Returned by value: a reference could alias the bytes written, and would be stored and loaded
/// again for every block.
struct Written {
    const std::uint16_t* at;
    char* out;
    bool has_surrogate;  ///< if so, ignore what was written
};

/// Writes the characters of [at, end) except the last one to fifteen.
[[PRUNEDBPE_AVX2]] inline Written write_utf8(const std::uint16_t* at, const std::uint16_t* end, char* out) {
    __m256i surrogates = _mm256_setzero_si256();
    for (; end - at >= 16; at += 16) {
        const __m256i units = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
        const __m128i low = _mm256_castsi256_si128(units), high = _mm256_extracti128_si256(units, 1);
        if (_mm256_testz_si256(units, _mm256_set1_epi16(-0x80))) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_packus_epi16(low, high));
            out += 16;
            continue;
        }
        const __m256i block = _mm256_and_si256(units, _mm256_set1_epi16(-0x800));  // a surrogate's is 0xD800
        surrogates = _mm256_or_si256(surrogates, _mm256_cmpeq_epi16(block, _mm256_set1_epi16(-0x2800)));
        write_eight(low, out);
        write_eight(high, out);
    }
    return {at, out, _mm256_testz_si256(surrogates, surrogates) == 0};
}

}  // namespace prunedbpe::simd::avx2

#endif
