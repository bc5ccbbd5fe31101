// Text as bytes: is it UTF-8, and where are its lines.
//
// Every later stage trusts its text to be valid UTF-8, so whatever reads outside bytes asks here first.
// Both functions are one pass over the text, at memory speed where it is ASCII.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "prunedbpe/huge_array.hpp"
#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// Offset of the first byte of the first sequence that is not UTF-8, or -1 when all of `text` is.
/// Strict (Unicode, table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF, and a
/// character cut off by the end of the text counts as invalid.
std::int64_t find_invalid_utf8(std::string_view text);

/// The same, by at most `threads` threads: one for each megabyte.
std::int64_t find_invalid_utf8(std::string_view text, unsigned threads);

/// The lines of `text` without their terminators ("\n" or "\r\n"); a lone "\r" is part of its line.
/// Empty lines hold no text and are left out; a last line needs no terminator.
HugeVector<DocumentSpan> split_lines(std::string_view text);

/// The same, by at most `threads` threads: one for each megabyte.
HugeVector<DocumentSpan> split_lines(std::string_view text, unsigned threads);

/// Documents of these lengths laid end to end, without the empty ones.
std::vector<DocumentSpan> lay_out_documents(std::span<const std::int64_t> lengths);

/// Bytes of all documents together.
std::int64_t total_length(std::span<const DocumentSpan> documents);

}  // namespace prunedbpe
