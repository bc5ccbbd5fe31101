// How Python would show a token.
#pragma once

#include <string>
#include <string_view>

#include "prunedbpe/vocabulary_lines.hpp"

namespace prunedbpe {

/// Appends Python's repr of the token's text, or of its bytes where they are not UTF-8 or hold a character below
/// U+0020.
void append_repr(std::string& line, std::string_view token, IsPrintable is_printable);

}  // namespace prunedbpe
