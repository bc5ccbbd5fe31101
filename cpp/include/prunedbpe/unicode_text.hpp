// Text as Python stores it: one, two or four bytes per character.
//
// A worker converts it to UTF-8 in its own memory, document by document. Asking the str for its UTF-8 would convert
// under the GIL, on one thread, and leave a second copy of the corpus in the strs.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace prunedbpe {

/// A borrowed text.
struct UnicodeText {
    const void* units;
    std::size_t length;  ///< characters; bytes if `is_utf8`
    int width;           ///< bytes per character: 1 (Latin-1), 2 (UCS-2) or 4 (UCS-4)
    bool is_utf8;        ///< `units` is UTF-8 already; `width` means nothing then

    static UnicodeText utf8(std::string_view text) { return {text.data(), text.size(), 1, true}; }
};

/// UTF-8 cannot encode a surrogate.
struct LoneSurrogate : std::runtime_error {
    LoneSurrogate() : std::runtime_error("the text holds a lone surrogate") {}
    std::size_t text = 0;  ///< index in a batch
};

/// The text's UTF-8: the text itself, or a copy in `buffer`. Throws LoneSurrogate.
std::string_view to_utf8(const UnicodeText& text, std::string& buffer);

}  // namespace prunedbpe
