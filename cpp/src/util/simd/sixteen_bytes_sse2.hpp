// SixteenBytes in an SSE2 register. Every x86-64 CPU has SSE2.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>

#include <cstdint>

namespace prunedbpe::simd::sse2 {

/// The answer for a byte is its highest bit; the other bits mean nothing.
struct ByteMask {
    __m128i values;

    ByteMask operator|(ByteMask other) const { return {_mm_or_si128(values, other.values)}; }
    ByteMask operator&(ByteMask other) const { return {_mm_and_si128(values, other.values)}; }
    ByteMask and_not(ByteMask other) const { return {_mm_andnot_si128(other.values, values)}; }
    /// Bit i is the answer for byte i.
    std::uint64_t bits() const { return static_cast<std::uint64_t>(_mm_movemask_epi8(values)); }
};

class SixteenBytes {
public:
    explicit SixteenBytes(const char* at) : values_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))) {}

    /// Turns A-Z into a-z. Other bytes change too, but none becomes a letter.
    SixteenBytes lower_case() const { return SixteenBytes(_mm_or_si128(values_, _mm_set1_epi8(0x20))); }

    ByteMask is_outside_ascii() const { return {values_}; }
    ByteMask is(int byte) const { return {_mm_cmpeq_epi8(values_, _mm_set1_epi8(static_cast<char>(byte)))}; }
    ByteMask equals(SixteenBytes other) const { return {_mm_cmpeq_epi8(values_, other.values_)}; }
    /// Is the byte one of the `count` values from `first` on? Shifts `first` to the least signed value, so one
    /// comparison checks both bounds.
    ByteMask in(int first, int count) const {
        const __m128i shifted = _mm_sub_epi8(values_, _mm_set1_epi8(static_cast<char>(first + 128)));
        return {_mm_cmplt_epi8(shifted, _mm_set1_epi8(static_cast<char>(count - 128)))};
    }
    /// Is the byte `first` or larger? `first` is at least 0x80.
    ByteMask from(int first) const { return in(first, 256 - first); }

private:
    explicit SixteenBytes(__m128i values) : values_(values) {}

    __m128i values_;
};

}  // namespace prunedbpe::simd::sse2

#endif
