// How many ASCII letters stand at a place: sixteen bytes at a time where the processor has SSE2 (every
// x86-64 has), eight at a time elsewhere. Words are short, so this is mostly one step without a loop
// whose end the processor would have to guess.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "pretokenizers/unicode_tables.hpp"

namespace prunedbpe {

#if defined(__SSE2__)

inline constexpr int letter_step = 16;

/// Letters at the start of the 16 bytes at `at`.
inline int leading_ascii_letters(const char* at) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // Lower case, shifted so that 'a' is the least signed value: one comparison finds both bounds.
    const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const __m128i shifted = _mm_sub_epi8(lower, _mm_set1_epi8(static_cast<char>('a' + 128)));
    const __m128i is_letter = _mm_cmplt_epi8(shifted, _mm_set1_epi8(-128 + 26));
    const auto others = ~static_cast<unsigned>(_mm_movemask_epi8(is_letter));  // bits from 16 on are set
    return std::countr_zero(others);
}

#else

inline constexpr int letter_step = 8;

/// Letters at the start of the 8 bytes at `at`.
inline int leading_ascii_letters(const char* at) {
    constexpr std::uint64_t ones = 0x0101010101010101;
    std::uint64_t bytes;
    std::memcpy(&bytes, at, 8);
    if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
    const std::uint64_t low = (bytes | ones * 0x20) & ones * 0x7F;
    // The high bit of each byte: not below 'a', and below 'z' + 1, and ASCII.
    const std::uint64_t is_letter = (low + ones * (0x80 - 'a')) & ~(low + ones * (0x80 - 'z' - 1)) & ~bytes & ones * 0x80;
    const std::uint64_t others = ~is_letter & ones * 0x80;
    return others == 0 ? 8 : std::countr_zero(others) / 8;
}

#endif

/// First position from `at` on that is not U+4E00 to U+9FFF, the Han of nearly all texts, all of them letters.
/// The first two bytes tell them.
inline const char* skip_han(const char* at, const char* end) {
    while (end - at >= 3) {
        std::uint16_t two;
        std::memcpy(&two, at, 2);
        if constexpr (std::endian::native == std::endian::little) two = static_cast<std::uint16_t>(two << 8 | two >> 8);
        if (static_cast<std::uint16_t>(two - 0xE4B8) >= 0xEA00 - 0xE4B8) break;
        at += 3;
    }
    return at;
}

/// First position from `at` on that is no letter (of any script).
inline const char* skip_letters(const char* at, const char* end) {
    while (end - at >= letter_step) {
        const int letters = leading_ascii_letters(at);
        at += letters;
        if (letters == letter_step) continue;
        if (static_cast<signed char>(*at) >= 0) return at;
        // Outside ASCII. Stay here while that lasts: a script is seldom left within a run.
        do {
            const char* const behind = skip_han(at, end);
            if (behind != at) {
                at = behind;
                continue;
            }
            const Character character = read_multibyte(at, end);
            if (!(character.flags & flag::letter)) return at;
            at = character.next;
        } while (at < end && static_cast<signed char>(*at) < 0);
    }
    return skip_while(at, end, flag::letter);
}

}  // namespace prunedbpe
