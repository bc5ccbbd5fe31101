// What the bytes of a stretch of text are, as bits: letters, digits, spaces ... Sixty-four bytes at a time, so that
// a pretokenizer finds the ends of a dozen chunks by a few operations on registers (chunk_ends.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "pretokenizers/unicode_tables.hpp"
#include "util/sixteen_bytes.hpp"

#if defined(PRUNEDBPE_HAS_SIXTEEN_BYTES)
#define PRUNEDBPE_HAS_BYTE_CLASSES 1

namespace prunedbpe {

/// Bit i stands for byte i of the block. Every byte before `size` is in exactly one of the first seven classes.
struct ByteClasses {
    static constexpr std::size_t width = 64;
    using Bits = std::uint64_t;

    Bits letters = 0;  ///< all bytes of the characters
    Bits digits = 0;   ///< 0 to 9
    Bits spaces = 0;   ///< U+0020
    Bits tabs = 0;     ///< white space of ASCII that is neither a space nor a line break
    Bits breaks = 0;   ///< \r and \n
    Bits others = 0;   ///< neither letter nor number nor white space: ASCII, and all bytes of U+2010 to U+2027
    Bits unknown = 0;  ///< the rest, and what lies behind the end of the text

    Bits capitals = 0;     ///< of the letters, A to Z
    Bits apostrophes = 0;  ///< of the others, U+0027
    Bits slashes = 0;      ///< of the others, U+002F
    Bits long_others = 0;  ///< of the others, the first bytes of those outside ASCII, which have three

    std::size_t size = width;  ///< all from here on is unknown

    Bits white_space() const { return spaces | tabs | breaks; }

    /// Whether the first sixteen bytes can be told. If not, reading the block would be in vain.
    template <bool only_ascii>
    static bool are_known_at(const char* at, const char* end) {
        if (end - at < 16) return true;
        const SixteenBytes bytes(at);
        if constexpr (only_ascii) return SixteenBytes::bits(bytes.values) == 0;
        return SixteenBytes::bits(_mm_andnot_si128(bytes.is(0xE2), bytes.in(0xE0, 0x20))) == 0;
    }

    /// The bytes at `at` in a text that ends at `end`. Letters outside ASCII are told only if asked for.
    /// Inline, so that nobody computes classes that a pretokenizer does not ask for.
    template <bool only_ascii>
    [[gnu::always_inline]] static inline ByteClasses of(const char* at, const char* end) {
        char rest[width];
        if (end - at < static_cast<std::ptrdiff_t>(width)) [[unlikely]] {
            std::memset(rest, 0, sizeof rest);
            std::memcpy(rest, at, static_cast<std::size_t>(end - at));
            at = rest;
        }
        ByteClasses classes;
        Bits outside = 0, controls = 0;
        for (std::size_t i = 0; i < width; i += 16) {
            const SixteenBytes bytes(at + i);
            outside |= SixteenBytes::bits(bytes.values) << i;
            controls |= SixteenBytes::bits(bytes.in(0, ' ' + 1)) << i;
            classes.letters |= SixteenBytes::bits(bytes.lower_case().in('a', 26)) << i;
            classes.digits |= SixteenBytes::bits(bytes.in('0', 10)) << i;
            classes.spaces |= SixteenBytes::bits(bytes.is(' ')) << i;
            classes.breaks |= SixteenBytes::bits(_mm_or_si128(bytes.is('\n'), bytes.is('\r'))) << i;
            classes.capitals |= SixteenBytes::bits(bytes.in('A', 26)) << i;
            classes.apostrophes |= SixteenBytes::bits(bytes.is('\'')) << i;
            classes.slashes |= SixteenBytes::bits(bytes.is('/')) << i;
        }
        classes.others = ~(outside | controls | classes.letters | classes.digits);
        classes.unknown = controls & ~(classes.spaces | classes.breaks);
        if (classes.unknown != 0) [[unlikely]] {
            classes.tabs = classes.unknown & bits_of_64(at, [](SixteenBytes bytes) { return bytes.in('\t', 5); });
            classes.unknown &= ~classes.tabs;
        }
        if (outside != 0) {
            if constexpr (only_ascii) {
                classes.end_at(static_cast<std::size_t>(std::countr_zero(outside)));
            } else {
                classes.read_outside_ascii(at, outside);
            }
        }
        return classes;
    }

private:
    void end_at(std::size_t place) {
        size = place;
        unknown |= ~Bits{0} << place;
    }

    /// Letters of two bytes are told by the first one, with few exceptions, in Latin (U+00C0 to U+02BF) and most of
    /// Cyrillic (U+0400 to U+047F). Other characters of two bytes are looked up one by one. In scripts of three bytes
    /// and more the scanners are as quick, so the block ends there.
    [[gnu::always_inline]] inline void read_outside_ascii(const char* at, Bits outside) {
        Bits latin_1 = 0, leads = 0, signs = 0, long_leads = 0;
        for (std::size_t i = 0; i < width; i += 16) {
            const SixteenBytes bytes(at + i);
            latin_1 |= SixteenBytes::bits(bytes.is(0xC3)) << i;
            leads |= SixteenBytes::bits(_mm_or_si128(bytes.in(0xC4, 0xCA - 0xC4 + 1), bytes.in(0xD0, 2))) << i;
            signs |= SixteenBytes::bits(_mm_or_si128(bytes.is(0x97), bytes.is(0xB7))) << i;  // U+00D7 and U+00F7
            long_leads |= SixteenBytes::bits(bytes.in(0xE0, 0x20)) << i;
        }
        leads |= latin_1 & ~(signs >> 1 | Bits{1} << (width - 1));
        letters |= leads | leads << 1;
        for (Bits left = outside & ~letters; left != 0;) {
            const auto place = static_cast<std::size_t>(std::countr_zero(left));
            const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(at[place + i]); };
            Bits bytes = Bits{3} << place;
            if (long_leads >> place & 1) {
                const bool is_whole = place + 2 < width;
                if (!(is_whole && byte(0) == 0xE2 && byte(1) == 0x80 && byte(2) >= 0x90 && byte(2) <= 0xA7)) {
                    return end_at(place);
                }
                bytes = Bits{7} << place;
                others |= bytes;
                long_others |= Bits{1} << place;
            } else if (place + 1 < width && (read_character(at + place, at + width).flags & flag::letter)) {
                letters |= bytes;
            } else {
                unknown |= bytes;
            }
            left &= ~bytes;
        }
    }
};

}  // namespace prunedbpe

#endif
