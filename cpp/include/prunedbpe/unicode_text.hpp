// Text as Python keeps it: one, two or four bytes for each character.
//
// A worker turns it into UTF-8 in memory of its own, document by document. Asking the str for its UTF-8
// would do that under the GIL, on one thread, and leave a second copy of the corpus in the strs.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace prunedbpe {

struct UnicodeText {
    const void* units;
    std::size_t length;  ///< characters
    int width;           ///< bytes of each: 1 (Latin-1), 2 (no surrogates but lone ones), 4
    bool is_utf8;        ///< `units` is UTF-8 as it stands, `length` its bytes

    static UnicodeText utf8(std::string_view text) { return {text.data(), text.size(), 1, true}; }
};

/// A surrogate has no UTF-8.
struct LoneSurrogate : std::runtime_error {
    LoneSurrogate() : std::runtime_error("the text holds a lone surrogate") {}
    std::size_t text = 0;  ///< which one of a batch
};

/// The text's UTF-8: itself, or written into `buffer`. Throws LoneSurrogate.
std::string_view to_utf8(const UnicodeText& text, std::string& buffer);

}  // namespace prunedbpe
