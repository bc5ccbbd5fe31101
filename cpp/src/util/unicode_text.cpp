#include "prunedbpe/unicode_text.hpp"

#include <cstdint>
#include <cstring>

namespace prunedbpe {
namespace {

/// Copies characters up to the first one outside ASCII, 16 at a time.
template <class Unit>
void copy_ascii(const Unit*& at, const Unit* end, char*& out) {
    for (; end - at >= 16; at += 16, out += 16) {
        Unit all = 0;
        for (int i = 0; i < 16; ++i) all = static_cast<Unit>(all | at[i]);
        if (all >= 0x80) break;
        for (int i = 0; i < 16; ++i) out[i] = static_cast<char>(at[i]);
    }
    while (at < end && *at < 0x80) *out++ = static_cast<char>(*at++);
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
            out[0] = static_cast<char>(0xC0 | c >> 6);
            out[1] = static_cast<char>(0x80 | (c & 0x3F));
            out += 2;
        } else if (sizeof(Unit) > 1 && c < 0x10000) {
            if (c >= 0xD800 && c < 0xE000) throw LoneSurrogate();
            out[0] = static_cast<char>(0xE0 | c >> 12);
            out[1] = static_cast<char>(0x80 | (c >> 6 & 0x3F));
            out[2] = static_cast<char>(0x80 | (c & 0x3F));
            out += 3;
        } else if (sizeof(Unit) > 2) {
            out[0] = static_cast<char>(0xF0 | c >> 18);
            out[1] = static_cast<char>(0x80 | (c >> 12 & 0x3F));
            out[2] = static_cast<char>(0x80 | (c >> 6 & 0x3F));
            out[3] = static_cast<char>(0x80 | (c & 0x3F));
            out += 4;
        }
    }
    return out;
}

template <class Unit>
std::string_view convert(const UnicodeText& text, std::size_t most_bytes, std::string& buffer) {
    if (buffer.size() < text.length * most_bytes) buffer.resize(text.length * most_bytes);
    const auto* units = static_cast<const Unit*>(text.units);
    const char* const stop = write_utf8(units, units + text.length, buffer.data());
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
