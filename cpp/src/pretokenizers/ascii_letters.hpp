// Runs of letters, ASCII letters sixteen at a time. Words are short, so this is mostly one step, without a loop whose
// end the CPU would mispredict.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "pretokenizers/unicode_tables.hpp"
#include "util/simd/sixteen_bytes.hpp"

namespace prunedbpe {

inline constexpr int letter_step = 16;

/// Letters at the start of the 16 bytes at `at`.
inline int leading_ascii_letters(const char* at) {
    const std::uint64_t others = ~SixteenBytes(at).lower_case().in('a', 26).bits();  // bits from 16 on are set
    return std::countr_zero(static_cast<std::uint32_t>(others));
}

/// First position from `at` on that is not U+4E00 to U+9FFF: these cover nearly all Han text, all are letters, and
/// their first two bytes identify them.
inline const char* skip_han(const char* at, const char* end) {
    while (end - at >= 3) {
        const auto two = static_cast<unsigned>(static_cast<unsigned char>(at[0]) << 8 | static_cast<unsigned char>(at[1]));
        if (two - 0xE4B8 >= 0xEA00 - 0xE4B8) break;
        at += 3;
    }
    return at;
}

/// First position from `at` on that is not a letter of any script.
inline const char* skip_letters(const char* at, const char* end) {
    while (end - at >= letter_step) {
        const int letters = leading_ascii_letters(at);
        at += letters;
        if (letters == letter_step) continue;
        if (static_cast<signed char>(*at) >= 0) return at;
        // Outside ASCII. Stay in this loop while that lasts: a run seldom changes its script.
        do {
            const char* const after_han = skip_han(at, end);
            if (after_han != at) {
                at = after_han;
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
