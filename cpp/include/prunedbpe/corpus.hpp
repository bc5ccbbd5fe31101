// Text as bytes: is it UTF-8, and where are its lines.
//
// Every later stage relies on valid UTF-8, so every reader checks here first. Both functions are one pass over the
// text, at memory speed where it is ASCII.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "prunedbpe/huge_array.hpp"
#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// Offset of the first byte of the first invalid sequence, or -1 if all of `text` is UTF-8. Strict (Unicode, table
/// 3-7): no overlong forms, no surrogates, nothing above U+10FFFF, no character cut off by the end.
std::int64_t find_invalid_utf8(std::string_view text);

/// The same on at most `threads` threads, one for each megabyte of text.
std::int64_t find_invalid_utf8(std::string_view text, unsigned threads);

/// The non-empty lines of `text` without their terminators ("\n" or "\r\n"); a lone "\r" is part of its line. The last
/// line needs no terminator.
HugeVector<DocumentSpan> split_lines(std::string_view text);

/// The same on at most `threads` threads, one for each megabyte of text.
HugeVector<DocumentSpan> split_lines(std::string_view text, unsigned threads);

}  // namespace prunedbpe
