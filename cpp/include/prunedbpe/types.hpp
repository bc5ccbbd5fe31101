// Small types shared by every stage of the core.
#pragma once

#include <cstddef>
#include <cstdint>

namespace prunedbpe {

/// Position of a token in training order: bytes are 0-255, the first merge makes 256. Decides merge priority. A type of
/// its own, because a rank is never the token id a model sees.
enum class Rank : std::uint32_t {};

constexpr std::uint32_t raw(Rank rank) { return static_cast<std::uint32_t>(rank); }

inline constexpr std::uint32_t byte_count = 256;

/// A learned rule: `left` and `right` become the token whose rank is 256 + the index of the merge.
struct Merge {
    Rank left;
    Rank right;
};
static_assert(sizeof(Merge) == 8);  // arrays hold merges as uint32[n, 2]

/// Does the merge at `index` use a part that does not exist yet? No learned merge does.
constexpr bool has_late_part(const Merge& merge, std::size_t index) {
    return raw(merge.left) >= byte_count + index || raw(merge.right) >= byte_count + index;
}

/// One document of a batch: bytes [begin, end) of the batch's text.
struct DocumentSpan {
    std::int64_t begin;
    std::int64_t end;
};
static_assert(sizeof(DocumentSpan) == 16);  // arrays hold spans as int64[n, 2]

/// An invalid row of a table that came from outside.
struct WrongRow {
    std::size_t row;
    const char* what;  ///< name of the invalid column
};

}  // namespace prunedbpe
