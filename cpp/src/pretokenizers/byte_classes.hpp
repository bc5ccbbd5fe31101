// Classes of the bytes of a 64-byte block, as bits: letters, digits, spaces ... A pretokenizer then finds the ends of a
// dozen chunks with a few operations on registers (chunk_ends.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "pretokenizers/unicode_tables.hpp"
#include "util/simd/sixteen_bytes.hpp"

namespace prunedbpe {

/// Bit i describes byte i of the block. Every byte before `size` is in exactly one of the first seven classes.
struct ByteClasses {
    static constexpr std::size_t width = 64;
    using Bits = std::uint64_t;

    Bits letters = 0;  ///< all bytes of the characters
    Bits digits = 0;   ///< 0 to 9
    Bits spaces = 0;   ///< U+0020
    Bits tabs = 0;     ///< ASCII white space that is neither a space nor a line break
    Bits breaks = 0;   ///< \r and \n
    Bits others = 0;   ///< neither letter nor number nor white space: ASCII, and all bytes of U+2010 to U+2027
    Bits unknown = 0;  ///< the rest, and everything after the end of the text

    Bits capitals = 0;     ///< of the letters, A to Z
    Bits apostrophes = 0;  ///< of the others, U+0027
    Bits slashes = 0;      ///< of the others, U+002F
    Bits long_others = 0;  ///< of the others, the first bytes of three-byte characters

    std::size_t size = width;  ///< everything from here on is unknown

    Bits white_space() const { return spaces | tabs | breaks; }

    /// Can the first sixteen bytes be classified? If not, reading the block is a waste.
    template <class Bytes, bool only_ascii>
    static bool are_known_at(const char* at, const char* end) {
        if (end - at < 16) return true;
        const Bytes bytes(at);
        if constexpr (only_ascii) return bytes.is_outside_ascii().bits() == 0;
        return bytes.in(0xE0, 0x20).and_not(bytes.is(0xE2)).bits() == 0;
    }

    /// The block at `at` in a text that ends at `end`. With `only_ascii` it ends at the first byte outside ASCII.
    /// Always inlined: the compiler then drops the classes that a pretokenizer does not use.
    template <class Bytes, bool only_ascii>
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
            const Bytes bytes(at + i);
            outside |= bytes.is_outside_ascii().bits() << i;
            controls |= bytes.in(0, ' ' + 1).bits() << i;
            classes.letters |= bytes.lower_case().in('a', 26).bits() << i;
            classes.digits |= bytes.in('0', 10).bits() << i;
            classes.spaces |= bytes.is(' ').bits() << i;
            classes.breaks |= (bytes.is('\n') | bytes.is('\r')).bits() << i;
            classes.capitals |= bytes.in('A', 26).bits() << i;
            classes.apostrophes |= bytes.is('\'').bits() << i;
            classes.slashes |= bytes.is('/').bits() << i;
        }
        classes.others = ~(outside | controls | classes.letters | classes.digits);
        classes.unknown = controls & ~(classes.spaces | classes.breaks);
        if (classes.unknown != 0) [[unlikely]] {
            classes.tabs = classes.unknown & bits_of_64<Bytes>(at, [](Bytes bytes) { return bytes.in('\t', 5); });
            classes.unknown &= ~classes.tabs;
        }
        if (outside != 0) {
            if constexpr (only_ascii) {
                classes.end_at(static_cast<std::size_t>(std::countr_zero(outside)));
            } else {
                classes.read_outside_ascii<Bytes>(at, outside);
            }
        }
        return classes;
    }

private:
    void end_at(std::size_t index) {
        size = index;
        unknown |= ~Bits{0} << index;
    }

    /// The first byte identifies letters, with few exceptions, in Latin (U+00C0 to U+02BF) and most of Cyrillic (U+0400
    /// to U+047F). Other two-byte characters are looked up one by one. The block ends at a three-byte script: there the
    /// scanners are as fast.
    template <class Bytes>
    [[gnu::always_inline]] inline void read_outside_ascii(const char* at, Bits outside) {
        Bits latin_1 = 0, leads = 0, signs = 0, long_leads = 0;
        for (std::size_t i = 0; i < width; i += 16) {
            const Bytes bytes(at + i);
            latin_1 |= bytes.is(0xC3).bits() << i;
            leads |= (bytes.in(0xC4, 0xCA - 0xC4 + 1) | bytes.in(0xD0, 2)).bits() << i;
            signs |= (bytes.is(0x97) | bytes.is(0xB7)).bits() << i;  // U+00D7 and U+00F7
            long_leads |= bytes.in(0xE0, 0x20).bits() << i;
        }
        leads |= latin_1 & ~(signs >> 1 | Bits{1} << (width - 1));
        letters |= leads | leads << 1;
        for (Bits left = outside & ~letters; left != 0;) {
            const auto index = static_cast<std::size_t>(std::countr_zero(left));
            const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(at[index + i]); };
            Bits bytes = Bits{3} << index;
            if (long_leads >> index & 1) {
                const bool is_whole = index + 2 < width;
                if (!(is_whole && byte(0) == 0xE2 && byte(1) == 0x80 && byte(2) >= 0x90 && byte(2) <= 0xA7)) {
                    return end_at(index);
                }
                bytes = Bits{7} << index;
                others |= bytes;
                long_others |= Bits{1} << index;
            } else if (index + 1 < width && (read_character(at + index, at + width).flags & flag::letter)) {
                letters |= bytes;
            } else {
                unknown |= bytes;
            }
            left &= ~bytes;
        }
    }
};

}  // namespace prunedbpe
