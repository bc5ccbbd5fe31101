#include "vocabulary/python_repr.hpp"

#include <algorithm>
#include <cstdint>

#include "prunedbpe/corpus.hpp"

namespace prunedbpe {
namespace {

void append_escape(std::string& line, char kind, std::uint32_t value, int digits) {
    line += '\\';
    line += kind;
    for (int i = digits - 1; i >= 0; --i) line += "0123456789abcdef"[value >> 4 * i & 0xF];
}

/// Escapes a character below U+0080 inside quotes; false for one that needs no escape.
bool append_special(std::string& line, char c, char quote) {
    if (c == quote || c == '\\') {
        line += '\\';
        line += c;
    } else if (c == '\t') {
        line += "\\t";
    } else if (c == '\n') {
        line += "\\n";
    } else if (c == '\r') {
        line += "\\r";
    } else if (c < ' ' || c == 0x7F) {
        append_escape(line, 'x', static_cast<unsigned char>(c), 2);
    } else {
        return false;
    }
    return true;
}

void append_bytes(std::string& line, std::string_view bytes, char quote) {
    for (const char c : bytes) {
        if (static_cast<signed char>(c) < 0) {
            append_escape(line, 'x', static_cast<unsigned char>(c), 2);
        } else if (!append_special(line, c, quote)) {
            line += c;
        }
    }
}

void append_text(std::string& line, std::string_view text, char quote, IsPrintable is_printable) {
    for (std::size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i]);
        if (first < 0x80) {
            if (!append_special(line, text[i], quote)) line += text[i];
            ++i;
            continue;
        }
        const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        char32_t character = first & (0x7F >> length);
        for (std::size_t j = 1; j < length; ++j) character = character << 6 | (text[i + j] & 0x3F);
        if (is_printable(character)) {
            line += text.substr(i, length);
        } else if (character <= 0xFF) {
            append_escape(line, 'x', character, 2);
        } else if (character <= 0xFFFF) {
            append_escape(line, 'u', character, 4);
        } else {
            append_escape(line, 'U', character, 8);
        }
        i += length;
    }
}

}  // namespace

void append_repr(std::string& line, std::string_view token, IsPrintable is_printable) {
    const auto is_simple = [](unsigned char c) { return c >= ' ' && c < 0x7F && c != '\'' && c != '\\'; };
    if (std::all_of(token.begin(), token.end(), is_simple)) {  // as most tokens are
        line += '\'';
        line += token;
        line += '\'';
        return;
    }
    const bool is_text = std::none_of(token.begin(), token.end(), [](unsigned char c) { return c < ' '; }) &&
                         find_invalid_utf8(token) == -1;
    const bool has_single = token.find('\'') != std::string_view::npos;
    const char quote = has_single && token.find('"') == std::string_view::npos ? '"' : '\'';
    if (!is_text) line += 'b';
    line += quote;
    if (is_text) {
        append_text(line, token, quote, is_printable);
    } else {
        append_bytes(line, token, quote);
    }
    line += quote;
}

}  // namespace prunedbpe
