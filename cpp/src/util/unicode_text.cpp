#include "prunedbpe/unicode_text.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

#include "util/utf8_writer.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace prunedbpe {
namespace {

/// Copies sixteen characters, of which those in ASCII come out right; returns a mask of the others, first one lowest.
template <class Unit>
std::uint32_t copy_sixteen(const Unit* at, char* out) {
#if defined(__SSE2__)
    const auto load = [at](int place) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + place)); };
    __m128i bytes, outside;  // the latter has the highest bit where a character is not in ASCII
    if constexpr (sizeof(Unit) == 1) {
        bytes = outside = load(0);
    } else {
        __m128i low = load(0), high = load(8);  // of four bytes: the first and third four
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
#else
    std::uint32_t outside = 0;
    for (int i = 0; i < 16; ++i) {
        out[i] = static_cast<char>(at[i]);
        outside |= static_cast<std::uint32_t>(at[i] >= 0x80) << i;
    }
    return outside;
#endif
}

/// Copies characters up to the first one outside ASCII. Sixteen are copied at a time, and those from that one on
/// are overwritten by what follows; there must be room for them.
template <class Unit>
void copy_ascii(const Unit*& at, const Unit* end, char*& out) {
    while (end - at >= 16) {
        const std::uint32_t outside = copy_sixteen(at, out);
        if (outside != 0) {
            const int count = std::countr_zero(outside);
            at += count;
            out += count;
            return;
        }
        // By a fixed number: the next sixteen need not wait until it is known what these are.
        at += 16;
        out += 16;
    }
    while (at < end && *at < 0x80) *out++ = static_cast<char>(*at++);
}

/// The bytes of one character, the first one lowest, in one store. There must be room for four.
void write_bytes(char* out, std::uint32_t bytes) {
    if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap32(bytes);
    std::memcpy(out, &bytes, sizeof bytes);
}

template <class Unit>
char* write_utf8(const Unit* at, const Unit* end, char* out) {
    while (at < end) {
        const std::uint32_t c = *at++;
        // Each branch writes the same way for a whole run of a script, so the guess is mostly right.
        if (c < 0x80) {
            *out++ = static_cast<char>(c);
            copy_ascii(at, end, out);
        } else if (c < 0x800) {
            write_bytes(out, 0x80C0 | c >> 6 | (c & 0x3F) << 8);
            out += 2;
        } else if (sizeof(Unit) > 1 && c < 0x10000) {
            if (c >= 0xD800 && c < 0xE000) throw LoneSurrogate();
            write_bytes(out, 0x8080E0 | c >> 12 | (c << 2 & 0x3F00) | (c & 0x3F) << 16);
            out += 3;
        } else if (sizeof(Unit) > 2) {
            write_bytes(out, 0x808080F0 | c >> 18 | (c >> 4 & 0x3F00) | (c << 10 & 0x3F0000) | (c & 0x3F) << 24);
            out += 4;
        }
    }
    return out;
}

template <class Unit>
std::string_view convert(const UnicodeText& text, std::size_t most_bytes, std::string& buffer) {
    const std::size_t room = text.length * most_bytes + 16;
    if (buffer.size() < room) buffer.resize(room);
    const auto* units = static_cast<const Unit*>(text.units);
    const Unit* const end = units + text.length;
    char* out = buffer.data();
#ifdef PRUNEDBPE_AVX2
    if constexpr (sizeof(Unit) == 2) {
        static const bool is_quick = has_avx2();
        if (is_quick) {
            const Written written = write_utf8_by_eight(units, end, out);
            if (written.has_surrogate) throw LoneSurrogate();
            units = written.at;
            out = written.out;
        }
    }
#endif
    const char* const stop = write_utf8(units, end, out);
    return {buffer.data(), static_cast<std::size_t>(stop - buffer.data())};
}

}  // namespace

std::string_view to_utf8(const UnicodeText& text, std::string& buffer) {
    if (text.is_utf8) return {static_cast<const char*>(text.units), text.length};
    if (text.width == 1) return convert<std::uint8_t>(text, 2, buffer);
    if (text.width == 2) return convert<std::uint16_t>(text, 3, buffer);
    return convert<std::uint32_t>(text, 4, buffer);
}

}  // namespace prunedbpe
