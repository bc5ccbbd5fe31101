// Vocabularies: merges and their visibility -> token ids, the bytes of every token, the files vocab.txt and
// inter_vocab.txt; and checks of merge lists that came from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// Index of the first merge with a part that is not made before it. Everything below needs that there is none.
std::optional<std::size_t> find_late_part(std::span<const Merge> merges);

/// The lowest rank whose own bytes do not merge into it: that token can never appear, and an Encoder would differ from
/// merging by rank. O(merges * depth of a token).
std::optional<std::uint32_t> find_unreachable(std::span<const Merge> merges);

/// The bytes of every rank, flat.
struct TokenStrings {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets;  ///< rank r is bytes [offsets[r], offsets[r + 1])

    std::string_view operator[](std::size_t rank) const {
        return {reinterpret_cast<const char*>(bytes.data()) + offsets[rank],
                static_cast<std::size_t>(offsets[rank + 1] - offsets[rank])};
    }
};
TokenStrings spell(std::span<const Merge> merges);

/// Token id of every rank: visible tokens first, in rank order; then a gap of `special_count` ids; then internal tokens.
std::vector<std::uint32_t> assign_token_ids(std::span<const bool> visible, std::size_t special_count);

/// The visible token ids that stand for each rank, flat.
struct ExpandedRanks {
    std::vector<std::uint32_t> ids;
    std::vector<std::int64_t> offsets;  ///< rank r is ids [offsets[r], offsets[r + 1])
};
/// A visible rank stands for itself, an internal one for the expansions of its parts. Bytes count as visible.
ExpandedRanks expand_internal(std::span<const Merge> merges, std::span<const bool> visible,
                              std::span<const std::uint32_t> token_ids);

/// What two vocabulary files hold.
struct VocabularyFiles {
    std::vector<Merge> merges;           ///< gaps between ranks are closed
    std::vector<unsigned char> visible;  ///< by rank: 1 or 0
    std::vector<std::string> special_tokens;
};
/// Reads files exactly as write_vocabulary writes them. Returns nothing if anything is unusual or wrong; the caller then
/// parses slowly, to accept the unusual and to report the wrong.
std::optional<VocabularyFiles> read_vocabulary(std::string_view visible_file, std::string_view internal_file);

/// Does Python print the character unescaped? The answer depends on its version of Unicode.
using IsPrintable = bool (*)(char32_t character);

/// The text of the two files.
struct WrittenVocabulary {
    std::string visible_file, internal_file;
};
WrittenVocabulary write_vocabulary(std::span<const Merge> merges, std::span<const bool> visible,
                                   std::span<const std::string_view> special_tokens, IsPrintable is_printable);

}  // namespace prunedbpe
