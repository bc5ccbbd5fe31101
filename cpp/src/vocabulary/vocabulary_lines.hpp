// Lines of vocab.txt and inter_vocab.txt: id, (left id, right id), Python's repr of the token, rank; separated by tabs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prunedbpe/vocabulary.hpp"

namespace prunedbpe {

/// The columns, one entry per line; -1 for a token without parts or without a rank.
struct VocabularyLines {
    std::vector<std::int64_t> lefts;
    std::vector<std::int64_t> rights;
    std::vector<std::int64_t> ranks;
    TokenStrings tokens;
};

/// Reads lines exactly as append_vocabulary_line writes them, with ids from `first_id` on; nothing if any line differs.
std::optional<VocabularyLines> read_vocabulary_lines(std::string_view text, std::int64_t first_id);

/// One line, with the same sentinels.
struct VocabularyLine {
    std::int64_t id, left, right;
    std::string_view token;
    std::int64_t rank;
};
void append_vocabulary_line(std::string& lines, const VocabularyLine& line, IsPrintable is_printable);

}  // namespace prunedbpe
