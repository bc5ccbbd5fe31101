// vocab.txt and inter_vocab.txt together -> a vocabulary, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prunedbpe/types.hpp"

namespace prunedbpe {

struct VocabularyFiles {
    std::vector<Merge> merges;             // gaps between ranks are closed
    std::vector<unsigned char> visible;    // by rank: 1 or 0
    std::vector<std::string> special_tokens;
};

/// Reads files as the library writes them. Nothing if anything is otherwise, or wrong: then the caller reads again with
/// care, to accept what is unusual and to name what is wrong.
std::optional<VocabularyFiles> read_vocabulary(std::string_view visible_file, std::string_view internal_file);

/// The first merge with a part that is not made before it, by its place.
std::optional<std::size_t> find_late_part(std::span<const Merge> merges);

}  // namespace prunedbpe
