// The commonest chunks, many at a time: ASCII words and runs of ASCII punctuation.
//
// Sixty-four bytes of the text become bits (letter, space, punctuation ...). Then a chunk costs a few instructions
// on registers, where reading it byte by byte, or sixteen bytes at a time, waits for a load at every chunk and
// guesses at every byte. What is not certain from the bits alone goes to the scanner of the pretokenizer.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "pretokenize/scanners.hpp"
#include "prunedbpe/pretokenize.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace prunedbpe {

/// What the bits of a pretokenizer are good for. Where its own scanner is as quick, nothing.
enum class AsciiRules {
    none,
    words,   ///< letters, maybe behind a space, are a chunk where a space follows
    cl100k,  ///< the same where anything in ASCII follows, or behind one character of punctuation; and punctuation
};

template <NextChunk next_chunk>
inline constexpr AsciiRules ascii_rules = AsciiRules::none;
template <>
inline constexpr AsciiRules ascii_rules<next_paper> = AsciiRules::words;
template <>
inline constexpr AsciiRules ascii_rules<next_reference> = AsciiRules::words;
template <>
inline constexpr AsciiRules ascii_rules<next_cl100k> = AsciiRules::cl100k;

/// The chunks of one text from left to right, as `next_chunk` cuts them.
template <NextChunk next_chunk>
class ChunkScanner {
public:
    explicit ChunkScanner(const char* end) : end_(end) {}

    /// End of the chunk at `at`, which must be before the end of the text.
    const char* next(const char* at) {
#if defined(__SSE2__)
        if constexpr (rules != AsciiRules::none) {
            if (static_cast<signed char>(*at) >= 0) {
                if (const char* const stop = next_ascii(at)) [[likely]] return stop;
            }
        }
#endif
        return next_chunk(at, end_);
    }

private:
    static constexpr AsciiRules rules = ascii_rules<next_chunk>;
    const char* const end_;

#if defined(__SSE2__)
    static constexpr std::size_t width = 64, reach = 40;

    /// nullptr where the bits do not tell.
    const char* next_ascii(const char* at) {
        // As numbers: before the first load there is no block to point into.
        std::size_t offset = reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(block_);
        if (offset > reach) [[unlikely]] {
            // Outside ASCII the bits tell nothing; loading them there would be in vain.
            if (end_ - at < 2 || static_cast<signed char>(at[*at == ' ']) < 0) return nullptr;
            load(at);
            offset = 0;
        }
        const auto run_end = [](std::uint64_t bits, std::size_t begin) {
            return begin + static_cast<std::size_t>(std::countr_one(bits >> begin));
        };
        const auto is_set = [](std::uint64_t bits, std::size_t place) { return bits >> place & 1; };

        const std::size_t word = offset + is_set(spaces_ | punctuation_, offset);
        const std::size_t word_end = run_end(letters_, word);
        // Of a word that leaves the block the end is unknown; zeros are shifted in, so it ends there at the latest.
        if (word_end > word && is_set(word_ends_, word_end & 63) && word_end < width) [[likely]] return block_ + word_end;
        if constexpr (rules == AsciiRules::cl100k) {
            const std::size_t begin = offset + is_set(spaces_, offset);
            std::size_t stop = run_end(punctuation_, begin);
            const bool may_belong_to_a_word = stop == offset + 1 && is_set(letters_, stop & 63);
            if (stop > begin && stop < width && is_set(punctuation_ends_, stop & 63) && !may_belong_to_a_word) {
                stop = run_end(breaks_, stop);
                if (stop < width) return block_ + stop;
            }
        }
        return nullptr;
    }

    void load(const char* at) {
        block_ = at;
        char rest[width];
        if (end_ - at < static_cast<std::ptrdiff_t>(width)) {
            std::memset(rest, 0, sizeof rest);
            std::memcpy(rest, at, static_cast<std::size_t>(end_ - at));
            at = rest;
        }
        spaces_ = letters_ = punctuation_ = breaks_ = 0;
        std::uint64_t digits = 0, ascii = 0;
        for (std::size_t i = 0; i < width; i += 16) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + i));
            const auto is = [&](char byte) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)); };
            // Shifted so that the first is the least signed value: one comparison finds both bounds.
            const auto is_in = [](__m128i values, char first, int count) {
                const __m128i shifted = _mm_sub_epi8(values, _mm_set1_epi8(static_cast<char>(first + 128)));
                return _mm_cmplt_epi8(shifted, _mm_set1_epi8(static_cast<char>(-128 + count)));
            };
            const __m128i is_letter = is_in(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 26);
            letters_ |= bits(is_letter) << i;
            spaces_ |= bits(is(' ')) << i;
            if constexpr (rules == AsciiRules::cl100k) {
                const __m128i is_digit = is_in(bytes, '0', 10);
                // An apostrophe may begin `'s` and the like.
                const __m128i others = _mm_or_si128(_mm_or_si128(is_letter, is_digit), is('\''));
                punctuation_ |= bits(_mm_andnot_si128(others, _mm_cmpgt_epi8(bytes, _mm_set1_epi8(' ')))) << i;
                ascii |= (bits(bytes) ^ 0xFFFF) << i;
                digits |= bits(is_digit) << i;
                breaks_ |= bits(_mm_or_si128(is('\n'), is('\r'))) << i;
            }
        }
        word_ends_ = rules == AsciiRules::cl100k ? ascii & ~letters_ : spaces_;
        punctuation_ends_ = letters_ | digits | spaces_ | breaks_;
    }

    static std::uint64_t bits(__m128i bytes) { return static_cast<std::uint64_t>(_mm_movemask_epi8(bytes)); }

    const char* block_ = nullptr;
    std::uint64_t spaces_ = 0;
    std::uint64_t letters_ = 0;
    std::uint64_t word_ends_ = 0;
    std::uint64_t punctuation_ = 0;
    std::uint64_t punctuation_ends_ = 0;
    std::uint64_t breaks_ = 0;
#endif
};

/// Calls `use` with the scanner as a template argument, so that a loop over chunks has it inline.
template <class Use>
decltype(auto) with_scanner(NextChunk next, Use&& use) {
    if (next == next_paper) return use.template operator()<next_paper>();
    if (next == next_reference) return use.template operator()<next_reference>();
    if (next == next_gpt2) return use.template operator()<next_gpt2>();
    if (next == next_cl100k) return use.template operator()<next_cl100k>();
    if (next == next_o200k) return use.template operator()<next_o200k>();
    return use.template operator()<next_none>();
}

}  // namespace prunedbpe
