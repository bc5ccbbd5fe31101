// What the scanners of the published regular expressions share.
//
// A run of white space at the end of the text is one chunk. Before other text, it leaves its last character
// to what follows, or ends after its last line break:
//
//     \s+(?!\S)   backs off by one character unless the run is at the end
//     \s*[\r\n]+  ends with the last line break of the run
//
// So a run is read at most three times, whatever it holds, and cutting stays linear.
#pragma once

#include "pretokenizers/unicode_tables.hpp"

namespace prunedbpe {

/// A run of white space: `[begin, end)`.
struct WhiteSpaceRun {
    const char* end;
    const char* last;              ///< start of its last character
    const char* after_last_break;  ///< just after its last `\r` or `\n`; nullptr if it has none
};

/// The run at `at`, whose first character must be white space.
inline WhiteSpaceRun read_white_space(const char* at, const char* end) {
    WhiteSpaceRun run{at, at, nullptr};
    while (run.end < end) {
        const Character character = read_character(run.end, end);
        if (!(character.flags & flag::white_space)) break;
        if (*run.end == '\r' || *run.end == '\n') run.after_last_break = character.next;
        run.last = run.end;
        run.end = character.next;
    }
    return run;
}

/// `\s+(?!\S)|\s+` at the start `at` of a run.
inline const char* white_space_end(const char* at, const WhiteSpaceRun& run, const char* end) {
    return run.end == end || run.last == at ? run.end : run.last;
}

/// End of `\p{N}{1,3}` once its first number is read.
inline const char* up_to_two_more_numbers(const char* at, const char* end) {
    for (int more = 0; more < 2 && (flags_at(at, end) & flag::number); ++more) {
        at = read_character(at, end).next;
    }
    return at;
}

/// Bytes of `'(?:[sdmt]|ll|ve|re)` at `at`, 0 without a match. Ignoring case also lets U+017F (long s) pass for `s`:
/// it is the only character outside ASCII that folds to a letter of the pattern.
template <bool ignore_case>
inline int contraction_size(const char* at, const char* end) {
    if (!is_at(at, end, '\'') || end - at < 2) return 0;
    const auto fold = [](char c) { return ignore_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
    const char first = fold(at[1]);
    if (first == 's' || first == 'd' || first == 'm' || first == 't') return 2;
    if (end - at < 3) return 0;
    if (ignore_case && at[1] == '\xC5' && at[2] == '\xBF') return 3;
    const char second = fold(at[2]);
    if (first == 'l' && second == 'l') return 3;
    if ((first == 'v' || first == 'r') && second == 'e') return 3;
    return 0;
}

}  // namespace prunedbpe
