// Characters to UTF-8 one by one, runs of ASCII sixteen at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "util/simd/copy_sixteen.hpp"

namespace prunedbpe::simd::portable {

/// Copies characters up to the first one outside ASCII. What a block stores from that one on is overwritten later.
template <class Unit>
void copy_ascii(const Unit*& at, const Unit* end, char*& out) {
    while (end - at >= 16) {
        const std::uint32_t outside = simd::copy_sixteen(at, out);
        if (outside != 0) {
            const int count = std::countr_zero(outside);
            at += count;
            out += count;
            return;
        }
        // A constant step: the next block does not wait for this one's mask.
        at += 16;
        out += 16;
    }
    while (at < end && *at < 0x80) *out++ = static_cast<char>(*at++);
}

/// The bytes of one character, the first one lowest, in one store of four.
inline void write_bytes(char* out, std::uint32_t bytes) { std::memcpy(out, &bytes, sizeof bytes); }

/// Returns the end of the text, or nullptr if it holds a surrogate.
template <class Unit>
char* write_utf8(const Unit* at, const Unit* end, char* out) {
    while (at < end) {
        const std::uint32_t c = *at++;
        // Scripts come in runs, so these branches are predicted well.
        if (c < 0x80) {
            *out++ = static_cast<char>(c);
            copy_ascii(at, end, out);
        } else if (c < 0x800) {
            write_bytes(out, 0x80C0 | c >> 6 | (c & 0x3F) << 8);
            out += 2;
        } else if (sizeof(Unit) > 1 && c < 0x10000) {
            if (c >= 0xD800 && c < 0xE000) return nullptr;
            write_bytes(out, 0x8080E0 | c >> 12 | (c << 2 & 0x3F00) | (c & 0x3F) << 16);
            out += 3;
        } else if (sizeof(Unit) > 2) {
            write_bytes(out, 0x808080F0 | c >> 18 | (c >> 4 & 0x3F00) | (c << 10 & 0x3F0000) | (c & 0x3F) << 24);
            out += 4;
        }
    }
    return out;
}

}  // namespace prunedbpe::simd::portable
