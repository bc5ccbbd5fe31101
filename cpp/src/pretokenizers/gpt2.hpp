// "gpt2":  '(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s
#pragma once

#include "pretokenizers/ascii_letters.hpp"
#include "pretokenizers/regex_parts.hpp"

namespace prunedbpe {

inline const char* next_gpt2(const char* begin, const char* end) {
    if (const int size = contraction_size<false>(begin, end)) return begin + size;

    // The optional space of the three kinds of run. If no run follows, it is white space.
    const char* const start = *begin == ' ' && end - begin > 1 ? begin + 1 : begin;
    const Character first = read_character(start, end);
    if (first.flags & flag::letter) return skip_letters(first.next, end);
    if (first.flags & flag::number) return skip_while(first.next, end, flag::number);
    if (!(first.flags & flag::white_space)) {
        return skip_until(first.next, end, flag::white_space | flag::letter | flag::number);
    }
    return white_space_end(begin, read_white_space(begin, end), end);
}

}  // namespace prunedbpe
