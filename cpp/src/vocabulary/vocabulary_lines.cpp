#include "vocabulary/vocabulary_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include "prunedbpe/corpus.hpp"
#include "vocabulary/python_repr.hpp"

namespace prunedbpe {
namespace {

/// Of an id or a rank.
constexpr std::ptrdiff_t most_digits = 9;

/// Reads a line piece by piece; false if the piece is not there.
class LineReader {
public:
    explicit LineReader(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

    bool at_end() const { return at_ == end_; }

    bool literal(std::string_view wanted) {
        if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, wanted.size()) != wanted) return false;
        at_ += wanted.size();
        return true;
    }

    bool number(std::int64_t& value) {
        const bool is_negative = at_ < end_ && *at_ == '-';
        if (is_negative) ++at_;
        const char* const first = at_;
        value = 0;
        for (; at_ < end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
            // Refused before it is added: a file may have more digits than 64 bits hold.
            if (at_ - first == most_digits) return false;
            value = value * 10 + (*at_ - '0');
        }
        if (at_ == first) return false;
        if (is_negative) value = -value;
        return true;
    }

    /// Python's repr of a str or of bytes that are not empty; appends the bytes.
    bool quoted(std::vector<std::uint8_t>& bytes) {
        const std::size_t before = bytes.size();
        const bool is_bytes = literal("b");
        if (at_ == end_ || (*at_ != '\'' && *at_ != '"')) return false;
        const char quote = *at_++;
        while (at_ < end_) {
            const char c = *at_++;
            if (c == quote) return bytes.size() > before;
            if (c == '\\') {
                if (!escape(is_bytes, bytes)) return false;
            } else if (static_cast<unsigned char>(c) < 0x20 || (is_bytes && static_cast<signed char>(c) < 0)) {
                return false;
            } else {
                bytes.push_back(static_cast<std::uint8_t>(c));
            }
        }
        return false;
    }

private:
    /// The rest of an escape after its backslash; accepts only those that repr writes.
    bool escape(bool is_bytes, std::vector<std::uint8_t>& bytes) {
        if (at_ == end_) return false;
        const char c = *at_++;
        switch (c) {
            case '\\':
            case '\'':
            case '"': bytes.push_back(static_cast<std::uint8_t>(c)); return true;
            case 'n': bytes.push_back('\n'); return true;
            case 'r': bytes.push_back('\r'); return true;
            case 't': bytes.push_back('\t'); return true;
            case 'x': return character(2, is_bytes, bytes);
            case 'u': return !is_bytes && character(4, false, bytes);
            case 'U': return !is_bytes && character(8, false, bytes);
            default: return false;
        }
    }

    /// A character given in hexadecimal, as UTF-8; in bytes, a byte.
    bool character(int digits, bool is_byte, std::vector<std::uint8_t>& bytes) {
        if (end_ - at_ < digits) return false;
        std::uint32_t value = 0;
        for (int i = 0; i < digits; ++i) {
            const char c = *at_++;
            const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
            if (digit < 0) return false;
            value = value << 4 | static_cast<std::uint32_t>(digit);
        }
        const auto push = [&](std::uint32_t byte) { bytes.push_back(static_cast<std::uint8_t>(byte)); };
        if (is_byte || value < 0x80) {
            push(value);
        } else if (value < 0x800) {
            push(0xC0 | value >> 6);
            push(0x80 | (value & 0x3F));
        } else if (value < 0x10000) {
            if (value >= 0xD800 && value < 0xE000) return false;
            push(0xE0 | value >> 12);
            push(0x80 | (value >> 6 & 0x3F));
            push(0x80 | (value & 0x3F));
        } else {
            if (value > 0x10FFFF) return false;
            push(0xF0 | value >> 18);
            push(0x80 | (value >> 12 & 0x3F));
            push(0x80 | (value >> 6 & 0x3F));
            push(0x80 | (value & 0x3F));
        }
        return true;
    }

    const char* at_;
    const char* end_;
};

}  // namespace

std::optional<VocabularyLines> read_vocabulary_lines(std::string_view text, std::int64_t first_id) {
    if (find_invalid_utf8(text) != -1) return std::nullopt;
    VocabularyLines lines;
    lines.tokens.bytes.reserve(text.size() / 3);
    lines.tokens.offsets.push_back(0);
    while (!text.empty()) {
        const std::size_t newline = text.find('\n');
        LineReader reader(text.substr(0, newline));
        text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
        std::int64_t id, left, right, rank;
        if (!reader.number(id) || !reader.literal("\t(") || !reader.number(left) || !reader.literal(", ") ||
            !reader.number(right) || !reader.literal(")\t") || !reader.quoted(lines.tokens.bytes) || !reader.literal("\t") ||
            !reader.number(rank) || !reader.at_end()) {
            return std::nullopt;
        }
        if (id != first_id + static_cast<std::int64_t>(lines.ranks.size())) return std::nullopt;
        if (rank < 0 && (left != -1 || right != -1 || rank != -1)) return std::nullopt;
        lines.lefts.push_back(left);
        lines.rights.push_back(right);
        lines.ranks.push_back(rank);
        lines.tokens.offsets.push_back(static_cast<std::int64_t>(lines.tokens.bytes.size()));
    }
    return lines;
}

void append_vocabulary_line(std::string& lines, const VocabularyLine& line, IsPrintable is_printable) {
    // Collects what comes before and after the token, to append to the string only three times.
    char piece[80];
    char* at = piece;
    const auto add_number = [&](std::int64_t number) { at = std::to_chars(at, at + 20, number).ptr; };
    const auto add = [&](std::string_view text) { at = std::copy(text.begin(), text.end(), at); };
    const auto append_piece = [&] { lines.append(piece, std::exchange(at, piece)); };
    add_number(line.id);
    add("\t(");
    add_number(line.left);
    add(", ");
    add_number(line.right);
    add(")\t");
    append_piece();
    append_repr(lines, line.token, is_printable);
    add("\t");
    add_number(line.rank);
    add("\n");
    append_piece();
}

}  // namespace prunedbpe
