// Sixteen bytes of text in a register, and questions about each of them whose answers are bits.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#define PRUNEDBPE_HAS_SIXTEEN_BYTES 1

namespace prunedbpe {

struct SixteenBytes {
    __m128i values;

    explicit SixteenBytes(const char* at) : values(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))) {}
    explicit SixteenBytes(__m128i given) : values(given) {}

    SixteenBytes lower_case() const { return SixteenBytes(_mm_or_si128(values, _mm_set1_epi8(0x20))); }

    __m128i is(int byte) const { return _mm_cmpeq_epi8(values, _mm_set1_epi8(static_cast<char>(byte))); }
    /// Shifted so that the first is the least signed value: one comparison finds both bounds.
    __m128i in(int first, int count) const {
        const __m128i shifted = _mm_sub_epi8(values, _mm_set1_epi8(static_cast<char>(first + 128)));
        return _mm_cmplt_epi8(shifted, _mm_set1_epi8(static_cast<char>(-128 + count)));
    }
    __m128i from(int first) const {
        return _mm_cmpeq_epi8(_mm_max_epu8(values, _mm_set1_epi8(static_cast<char>(first))), values);
    }

    /// The highest bit of each, the first one lowest.
    static std::uint64_t bits(__m128i bytes) { return static_cast<std::uint64_t>(_mm_movemask_epi8(bytes)); }
};

/// The answers for the 64 bytes at `at`.
template <class Question>
[[gnu::always_inline]] inline std::uint64_t bits_of_64(const char* at, Question&& question) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 64; i += 16) bits |= SixteenBytes::bits(question(SixteenBytes(at + i))) << i;
    return bits;
}

}  // namespace prunedbpe

#endif
