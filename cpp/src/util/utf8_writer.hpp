// Text of two bytes a character to UTF-8, eight characters at a time.
#pragma once

#include <cstdint>

#include "util/processor.hpp"

#ifdef PRUNEDBPE_AVX2

namespace prunedbpe {

/// How the bytes of four characters, each of them at the beginning of four bytes, come to stand together. By eight bits:
/// which of them have one byte, and which have at most two.
struct Compaction {
    alignas(16) std::uint8_t places[256][16];
    std::uint8_t lengths[256];

    constexpr Compaction() : places{}, lengths{} {
        for (unsigned bits = 0; bits < 256; ++bits) {
            std::uint8_t length = 0;
            for (unsigned i = 0; i < 4; ++i) {
                const unsigned bytes = bits >> i & 1 ? 1 : bits >> (i + 4) & 1 ? 2 : 3;
                for (unsigned j = 0; j < bytes; ++j) places[bits][length++] = static_cast<std::uint8_t>(4 * i + j);
            }
            lengths[bits] = length;
        }
    }
};
inline constexpr Compaction compaction;

/// Sixteen bytes of which the first few are wanted.
[[PRUNEDBPE_AVX2, gnu::always_inline]] inline void write_four(__m128i bytes, unsigned bits, char*& out) {
    const __m128i places = _mm_load_si128(reinterpret_cast<const __m128i*>(compaction.places[bits]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_shuffle_epi8(bytes, places));
    out += compaction.lengths[bits];
}

/// Each of eight characters as if it had one, two and three bytes, the first one lowest; then what it has.
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

/// Where writing has come to. Handed over as a whole: what is behind a reference might be one of the bytes written, and
/// would be stored and loaded again for every sixteen characters.
struct Written {
    const std::uint16_t* at;
    char* out;
    bool has_surrogate;  ///< then what was written is nothing
};

/// Writes all but the last few of the characters [at, end) to `out`, where there must be room for three bytes each and
/// sixteen more.
[[PRUNEDBPE_AVX2]] inline Written write_utf8_by_eight(const std::uint16_t* at, const std::uint16_t* end, char* out) {
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

}  // namespace prunedbpe

#endif
