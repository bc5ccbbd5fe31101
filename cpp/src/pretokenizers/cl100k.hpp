// "cl100k":
//     '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+
//     |\s++$|\s*[\r\n]|\s+(?!\S)|\s
//
// That is the form in use. An older published one lacks `\s++$` and cuts white space at the end of a text after its last
// line break; everywhere else the two agree. "llama3" is that older one, and "qwen2" the same with `\p{N}`:
//     (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
//     |\s*[\r\n]+|\s+(?!\S)|\s+
#pragma once

#include "pretokenizers/ascii_letters.hpp"
#include "pretokenizers/regex_parts.hpp"

namespace prunedbpe {

/// `most_digits` is 1 or 3. `keeps_last_space`: white space at the end of a text is one chunk, as by `\s++$`.
template <int most_digits, bool keeps_last_space>
const char* next_like_cl100k(const char* begin, const char* end) {
    // Most chunks of most texts: letters, with or without a space before them.
    const char* const word = begin + (*begin == ' ');
    if (end - word >= letter_step) {
        if (const int letters = leading_ascii_letters(word)) {
            const char* const stop = word + letters;
            return letters < letter_step && static_cast<signed char>(*stop) >= 0 ? stop : skip_letters(stop, end);
        }
    }
    if (const int size = contraction_size<true>(begin, end)) return begin + size;

    const Character first = read_character(begin, end);
    if (first.flags & flag::letter) return skip_letters(first.next, end);
    if (first.flags & flag::number) return most_digits == 1 ? first.next : up_to_two_more_numbers(first.next, end);
    const bool is_break = *begin == '\r' || *begin == '\n';
    if (!is_break && (flags_at(first.next, end) & flag::letter)) {
        return skip_letters(first.next, end);
    }

    constexpr Flags not_other = flag::white_space | flag::letter | flag::number;
    const char* const start = *begin == ' ' ? begin + 1 : begin;
    if (start < end && !(flags_at(start, end) & not_other)) {
        const char* at = skip_until(start, end, not_other);
        while (is_at(at, end, '\r') || is_at(at, end, '\n')) ++at;
        return at;
    }

    const WhiteSpaceRun run = read_white_space(begin, end);
    if (keeps_last_space && run.end == end) return end;
    if (run.after_last_break) return run.after_last_break;
    return white_space_end(begin, run, end);
}

inline const char* next_cl100k(const char* begin, const char* end) { return next_like_cl100k<3, true>(begin, end); }
inline const char* next_llama3(const char* begin, const char* end) { return next_like_cl100k<3, false>(begin, end); }
inline const char* next_qwen2(const char* begin, const char* end) { return next_like_cl100k<1, false>(begin, end); }

}  // namespace prunedbpe
