// "paper" and "reference": spans of Latin words, of digits and of other words, runs of everything else.
//
// The rules in plain form, and the oracle of the tests, are src/prunedbpe/reference/pretokenize.py.
// "reference" cuts as the implementation released with the paper does. It differs from "paper" twice: it
// has no rule for `C++` and `C#`, and it is pinned to Unicode 14.0, which the published results used, so a
// character assigned later belongs to no class.
//
// Linear: a chunk looks at most three characters beyond its end.
#pragma once

#include <cstring>

#include "pretokenizers/unicode_tables.hpp"

namespace prunedbpe {
namespace paper {

constexpr Flags word_like = flag::letter | flag::mark;
constexpr Flags latin_or_digit = flag::latin | flag::number;

template <bool is_reference>
struct Scanner {
    const char* const end;

    Character read(const char* at) const {
        Character character = read_character(at, end);
        if constexpr (is_reference) {
            if (character.flags & flag::later) character.flags = 0;
        }
        return character;
    }

    Flags flags(const char* at) const { return at < end ? read(at).flags : Flags{0}; }

    /// First position whose character has none of `members`, or has one of `barred`.
    const char* skip(const char* at, Flags members, Flags barred = 0) const {
        while (at < end) {
            const Character character = read(at);
            if (!(character.flags & members) || (character.flags & barred)) break;
            at = character.next;
        }
        return at;
    }

    const char* chunk_end(const char* begin) const {
        const Character first = read(begin);
        if (first.flags & flag::python_space) {
            const char* const stop = skip(first.next, flag::python_space);
            if (*begin != ' ' || stop != begin + 1 || stop == end) return stop;
            // Exactly one U+0020 joins the span after it, if there is one.
            const char* const span = span_end(stop, read(stop));
            return span ? span : stop;
        }
        if (const char* const span = span_end(begin, first)) return span;
        if (*begin == '<' && is_at(begin + 1, end, '/')) return begin + 2;
        return identical_run_end(begin, first.next);
    }

    /// End of the span or extension whose first character is at `begin`; nullptr if none starts there.
    const char* span_end(const char* begin, Character first) const {
        if (first.flags & flag::latin) return latin_span_end(begin, first.next);
        if (first.flags & flag::number) return digit_span_end(first.next);
        if (first.flags & word_like) return skip(first.next, word_like, flag::latin);
        if (*begin == '.' && (flags(first.next) & flag::latin)) {
            return skip(first.next, latin_or_digit);
        }
        return nullptr;
    }

    const char* latin_span_end(const char* begin, const char* at) const {
        while (true) {
            at = skip(at, latin_or_digit);
            const char* const next = at + latin_connector_size(at);
            if (next == at || !(flags(next) & latin_or_digit)) break;
            at = next;
        }
        if constexpr (!is_reference) {
            if (at == begin + 1 && *begin >= 'A' && *begin <= 'Z') return language_name_end(at);
        }
        return at;
    }

    const char* digit_span_end(const char* at) const {
        while (true) {
            at = skip(at, flag::number);
            if (!is_at(at, end, '.') && !is_at(at, end, '-')) return at;
            if (!(flags(at + 1) & flag::number)) return at;
            ++at;
        }
    }

    /// Bytes of the `.`, `'`, `-` or U+2019 at `at`; 0 if there is none.
    std::ptrdiff_t latin_connector_size(const char* at) const {
        if (at == end) return 0;
        if (*at == '.' || *at == '\'' || *at == '-') return 1;
        return end - at >= 3 && std::memcmp(at, "\xE2\x80\x99", 3) == 0 ? 3 : 0;
    }

    /// `at` follows a lone capital letter: takes the `++` of C++ and the `#` of C#, and only those.
    const char* language_name_end(const char* at) const {
        const char* stop = at;
        if (is_at(at, end, '#')) {
            stop = at + 1;
        } else if (is_at(at, end, '+') && is_at(at + 1, end, '+')) {
            stop = at + 2;
        }
        return is_at(stop, end, '+') || is_at(stop, end, '#') ? at : stop;
    }

    /// End of the run of the character [begin, next).
    const char* identical_run_end(const char* begin, const char* next) const {
        const std::ptrdiff_t size = next - begin;
        const auto bytes = static_cast<std::size_t>(size);
        while (end - next >= size && std::memcmp(begin, next, bytes) == 0) next += size;
        return next;
    }
};

}  // namespace paper

inline const char* next_paper(const char* begin, const char* end) { return paper::Scanner<false>{end}.chunk_end(begin); }

inline const char* next_reference(const char* begin, const char* end) { return paper::Scanner<true>{end}.chunk_end(begin); }

}  // namespace prunedbpe
