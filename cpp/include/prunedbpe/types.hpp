// Small types shared by every stage of the core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace prunedbpe {

/// Position of a token in training order: bytes are 0-255, the first merge makes 256. Decides merge
/// priority. A type of its own, because a rank is never the token id a model sees.
enum class Rank : std::uint32_t {};

/// The number a model sees, decided after pruning.
enum class TokenId : std::uint32_t {};

constexpr std::uint32_t raw(Rank rank) { return static_cast<std::uint32_t>(rank); }
constexpr std::uint32_t raw(TokenId id) { return static_cast<std::uint32_t>(id); }

inline constexpr std::uint32_t byte_count = 256;

/// A learned rule: `left` and `right` become the token whose rank is the merge's place + 256.
struct Merge {
    Rank left;
    Rank right;
};
static_assert(sizeof(Merge) == 8);  // arrays hold merges as uint32[n, 2]

/// Is a part of the merge at `place` not made before it? No learned merge has one.
constexpr bool has_late_part(const Merge& merge, std::size_t place) {
    return raw(merge.left) >= byte_count + place || raw(merge.right) >= byte_count + place;
}

/// One document inside a batch: bytes [begin, end) of the batch's text.
struct DocumentSpan {
    std::int64_t begin;
    std::int64_t end;
};
static_assert(sizeof(DocumentSpan) == 16);  // arrays hold spans as int64[n, 2]

/// A row of a table from elsewhere that makes no sense, and the name of the number that does not.
struct WrongRow {
    std::size_t row;
    const char* what;
};

}  // namespace prunedbpe
