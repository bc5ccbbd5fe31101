// Characters and their classes: reading UTF-8 one code point at a time, with the flags of each.
//
// The tables are generated (tools/make_unicode_tables.py). The flags of a code point are
// `block_flags[block_index[code point / 256] * 256 + code point % 256]`. Block 0 starts with ASCII, which
// therefore skips the first step.
#pragma once

#include <cstdint>

namespace prunedbpe {

using Flags = std::uint16_t;

/// Classes of a character. The values are those of the generator.
namespace flag {
inline constexpr Flags upper = 1 << 0;         ///< Lu, Lt
inline constexpr Flags lower = 1 << 1;         ///< Ll
inline constexpr Flags uncased = 1 << 2;       ///< Lm, Lo
inline constexpr Flags mark = 1 << 3;          ///< M*
inline constexpr Flags number = 1 << 4;        ///< N*
inline constexpr Flags punctuation = 1 << 5;   ///< P*
inline constexpr Flags symbol = 1 << 6;        ///< S*
inline constexpr Flags white_space = 1 << 7;   ///< `\s` of a regular expression
inline constexpr Flags python_space = 1 << 8;  ///< str.isspace: white_space and U+001C to U+001F
inline constexpr Flags latin = 1 << 9;         ///< `_`, and L* or M* with LATIN in its name
inline constexpr Flags assigned = 1 << 10;     ///< not Cn
inline constexpr Flags later = 1 << 11;        ///< assigned after Unicode 14.0

inline constexpr Flags letter = upper | lower | uncased;  ///< L*
}  // namespace flag

extern const std::uint8_t block_index[];
extern const std::uint16_t block_flags[];

/// One character of the text: its flags and where the next one starts.
struct Character {
    Flags flags;
    const char* next;
};

/// A character outside ASCII. Invalid UTF-8 never leads outside the text or the tables: it reads as one-byte
/// characters without flags.
inline Character read_multibyte(const char* at, const char* end) {
    const auto byte = [at](int i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(at[i])); };
    const std::uint32_t lead = byte(0);
    const std::int64_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (end - at < size) return {0, at + 1};
    std::uint32_t code_point = 0;
    if (size == 2) {
        code_point = (lead & 0x1F) << 6 | (byte(1) & 0x3F);
    } else if (size == 3) {
        code_point = (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    } else {
        code_point = (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    }
    if (code_point > 0x10FFFF) return {0, at + 1};
    return {block_flags[static_cast<std::uint32_t>(block_index[code_point >> 8]) << 8 | (code_point & 0xFF)], at + size};
}

/// The character at `at`; needs at < end.
inline Character read_character(const char* at, const char* end) {
    const auto lead = static_cast<unsigned char>(*at);
    if (lead < 0x80) return {block_flags[lead], at + 1};
    return read_multibyte(at, end);
}

/// Flags of the character at `at`; 0 at the end of the text.
inline Flags flags_at(const char* at, const char* end) {
    return at < end ? read_character(at, end).flags : Flags{0};
}

/// Whether the byte at `at` is the ASCII character `wanted`; false at the end of the text.
inline bool is_at(const char* at, const char* end, char wanted) { return at < end && *at == wanted; }

/// First position from `at` on whose character has none of the flags in `members`.
inline const char* skip_while(const char* at, const char* end, Flags members) {
    while (at < end) {
        const Character character = read_character(at, end);
        if (!(character.flags & members)) break;
        at = character.next;
    }
    return at;
}

/// First position from `at` on whose character has any of the flags in `others`.
inline const char* skip_until(const char* at, const char* end, Flags others) {
    while (at < end) {
        const Character character = read_character(at, end);
        if (character.flags & others) break;
        at = character.next;
    }
    return at;
}

}  // namespace prunedbpe
