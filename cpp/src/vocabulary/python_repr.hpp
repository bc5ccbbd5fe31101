// Python's repr of a token.
#pragma once

#include <string>
#include <string_view>

#include "prunedbpe/vocabulary.hpp"

namespace prunedbpe {

/// Appends the repr of the token's text, or of its bytes if they are not UTF-8 or hold a character below U+0020.
void append_repr(std::string& line, std::string_view token, IsPrintable is_printable);

}  // namespace prunedbpe
