// Reading and writing the lines of vocab.txt and inter_vocab.txt (src/prunedbpe/export/paper.py has the format).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// One entry for each line, in order.
struct VocabularyLines {
    std::vector<std::int64_t> lefts;
    std::vector<std::int64_t> rights;
    std::vector<std::int64_t> ranks;
    std::vector<std::uint8_t> bytes;     // of all tokens
    std::vector<std::int64_t> offsets;   // token i is bytes [offsets[i], offsets[i + 1])
};

/// Reads lines as the library writes them, with ids from `first_id` on. Nothing if any line is otherwise:
/// then the caller reads again with care, to accept what is unusual and to name what is wrong.
std::optional<VocabularyLines> read_vocabulary_lines(std::string_view text, std::int64_t first_id);

/// Does Python print the character as it is? Up to its own version of Unicode.
using IsPrintable = bool (*)(char32_t character);

/// A token that has no children, or no rank, has -1 there.
struct VocabularyLine {
    std::int64_t id, left, right;
    std::string_view token;
    std::int64_t rank;
};
void append_vocabulary_line(std::string& lines, const VocabularyLine& line, IsPrintable is_printable);

/// The bytes of every rank, flat, as in VocabularyLines. Parts must have lower ranks than their token.
struct Spelled {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets;
};
Spelled spell(std::span<const Merge> merges);

}  // namespace prunedbpe
