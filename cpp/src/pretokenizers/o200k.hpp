// "o200k", with U = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], L = [\p{Ll}\p{Lm}\p{Lo}\p{M}]:
//     [^\r\n\p{L}\p{N}]?U*L+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//     |[^\r\n\p{L}\p{N}]?U+L*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//     |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// U and L overlap in uncased letters and marks, and a mark may also be the optional first character. So the
// order in which a backtracking engine tries the alternatives decides the cut; the code follows that order.
#pragma once

#include "pretokenizers/regex_parts.hpp"

namespace prunedbpe {
namespace o200k {

constexpr Flags both = flag::uncased | flag::mark;
constexpr Flags upper_like = flag::upper | both;
constexpr Flags lower_like = flag::lower | both;

/// End of `U*L+` at `at`, or nullptr. `U*` takes all it can. If no L follows, it gives characters back up to the last
/// one that is also an L, and `L+` takes that one alone: whatever follows it is in U only.
inline const char* word_end(const char* at, const char* end) {
    const char* after_last_both = nullptr;
    while (at < end) {
        const Character character = read_character(at, end);
        if (!(character.flags & upper_like)) break;
        at = character.next;
        if (character.flags & both) after_last_both = at;
    }
    const char* const stop = skip_while(at, end, lower_like);
    return stop > at ? stop : after_last_both;
}

/// End of either word alternative at `begin`, without the contraction; nullptr if neither matches.
///
/// Linear: if the result ends inside a long run of U, the rest of the run holds no character that is
/// also an L, and the next call takes all of it.
inline const char* any_word_end(const char* begin, Character first, const char* end) {
    const bool may_be_prefix =
        !(first.flags & (flag::letter | flag::number)) && *begin != '\r' && *begin != '\n';
    // First alternative: with the optional character, then without it.
    if (may_be_prefix) {
        if (const char* const stop = word_end(first.next, end)) return stop;
    }
    if (first.flags & (flag::letter | flag::mark)) {
        if (const char* const stop = word_end(begin, end)) return stop;
    }
    // Second alternative. No L can follow `U+` here: the first alternative would have matched.
    const char* const start = may_be_prefix ? first.next : begin;
    const char* const stop = skip_while(start, end, upper_like);
    return stop > start ? stop : nullptr;
}

}  // namespace o200k

inline const char* next_o200k(const char* begin, const char* end) {
    const Character first = read_character(begin, end);
    if (const char* const stop = o200k::any_word_end(begin, first, end)) {
        return stop + contraction_size<true>(stop, end);
    }
    if (first.flags & flag::number) return up_to_two_more_numbers(first.next, end);

    constexpr Flags not_other = flag::white_space | flag::letter | flag::number;
    const char* const start = *begin == ' ' ? begin + 1 : begin;
    if (start < end && !(flags_at(start, end) & not_other)) {
        const char* at = skip_until(start, end, not_other);
        while (is_at(at, end, '\r') || is_at(at, end, '\n') || is_at(at, end, '/')) ++at;
        return at;
    }

    const WhiteSpaceRun run = read_white_space(begin, end);
    if (run.after_last_break) return run.after_last_break;
    return white_space_end(begin, run, end);
}

}  // namespace prunedbpe
