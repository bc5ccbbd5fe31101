// Copies sixteen characters to bytes, of which those in ASCII come out right. Returns a mask of the others, the first
// one lowest.
#pragma once

#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace prunedbpe::simd {

namespace portable {

template <class Unit>
std::uint32_t copy_sixteen(const Unit* at, char* out) {
    std::uint32_t outside = 0;
    for (int i = 0; i < 16; ++i) {
        out[i] = static_cast<char>(at[i]);
        outside |= static_cast<std::uint32_t>(at[i] >= 0x80) << i;
    }
    return outside;
}

}  // namespace portable

#ifdef __SSE2__
namespace sse2 {

template <class Unit>
std::uint32_t copy_sixteen(const Unit* at, char* out) {
    const auto load = [at](int index) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + index)); };
    __m128i bytes, outside;  // `outside` has the highest bit set where a character is not in ASCII
    if constexpr (sizeof(Unit) == 1) {
        bytes = outside = load(0);
    } else {
        __m128i low = load(0), high = load(8);  // of four-byte characters: the first and the third four
        if constexpr (sizeof(Unit) == 4) {
            low = _mm_packs_epi32(low, load(4));
            high = _mm_packs_epi32(high, load(12));
        }
        const auto is_outside = [](__m128i units) {
            const __m128i is_ascii = _mm_cmpeq_epi16(_mm_subs_epu16(units, _mm_set1_epi16(0x7F)), _mm_setzero_si128());
            return _mm_xor_si128(is_ascii, _mm_set1_epi16(-1));
        };
        bytes = _mm_packus_epi16(low, high);
        outside = _mm_packs_epi16(is_outside(low), is_outside(high));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
    return static_cast<std::uint32_t>(_mm_movemask_epi8(outside));
}

}  // namespace sse2
using sse2::copy_sixteen;
#else
using portable::copy_sixteen;
#endif

}  // namespace prunedbpe::simd
