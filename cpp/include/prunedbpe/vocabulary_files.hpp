// vocab.txt and inter_vocab.txt together -> a vocabulary, checked; and the other way round.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prunedbpe/types.hpp"
#include "prunedbpe/vocabulary_lines.hpp"

namespace prunedbpe {

struct VocabularyFiles {
    std::vector<Merge> merges;             // gaps between ranks are closed
    std::vector<unsigned char> visible;    // by rank: 1 or 0
    std::vector<std::string> special_tokens;
};

/// Reads files as the library writes them. Nothing if anything is otherwise, or wrong: then the caller reads again with
/// care, to accept what is unusual and to name what is wrong.
std::optional<VocabularyFiles> read_vocabulary(std::string_view visible_file, std::string_view internal_file);

struct WrittenVocabulary {
    std::string visible_file, internal_file;
};
/// Writes them. Visibility is given for every rank, and parts have lower ranks than their token.
WrittenVocabulary write_vocabulary(std::span<const Merge> merges, std::span<const bool> visible,
                                   std::span<const std::string_view> special_tokens, IsPrintable is_printable);

/// The first merge with a part that is not made before it, by its place.
std::optional<std::size_t> find_late_part(std::span<const Merge> merges);

}  // namespace prunedbpe
