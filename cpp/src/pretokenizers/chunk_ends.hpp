// All chunk ends of a block of text at once, from the classes of its bytes.
//
// The first byte of the block must begin a chunk. Bytes that the bits alone do not decide are doubtful: the scanner of
// the pretokenizer cuts every chunk that holds one.
#pragma once

#include "pretokenizers/byte_classes.hpp"
#include "pretokenizers/scanners.hpp"
#include "prunedbpe/pretokenizers.hpp"

namespace prunedbpe {

struct ChunkEnds {
    std::uint64_t begins;    ///< a chunk ends here and the next one begins
    std::uint64_t doubtful;  ///< a chunk with one of these bytes may end elsewhere
};

namespace chunk_ends {

using Bits = ByteClasses::Bits;

inline Bits before(Bits bits) { return bits >> 1; }
inline Bits after(Bits bits) { return bits << 1; }
inline Bits first_of_runs(Bits bits) { return bits & ~after(bits); }
inline Bits last_of_runs(Bits bits) { return bits & ~before(bits); }

/// For each of `marks`, which are in `bits`: the mark and the part of its run before it.
inline Bits back_to_begin_of_run(Bits marks, Bits bits) {
    Bits found = 0;
    for (; marks != 0; marks = before(marks) & bits) found |= marks;
    return found;
}

/// An unknown byte makes doubtful: itself; the chunk before it, which it may continue; and a run of white space before
/// it, which is cut by what follows.
inline Bits doubt_by_unknown(const ByteClasses& is) {
    if (is.unknown == 0) [[likely]] return 0;
    const Bits previous = before(is.unknown), white = is.white_space();
    return is.unknown | previous | back_to_begin_of_run(previous & white, white);
}

/// Of a run of white space that leaves the block, only the begin is certain.
inline Bits without_open_white_space(Bits begins, Bits white_space) {
    const int open = std::countl_one(white_space);
    return open == 0 ? begins : begins & ~Bits{0} >> (open - 1);
}

/// `next_gpt2`. A run of letters, digits or others takes one space before it; longer white space loses its last
/// character to what follows. An apostrophe may begin a contraction.
inline ChunkEnds gpt2(const ByteClasses& is) {
    const Bits white = is.white_space();
    const Bits runs = first_of_runs(is.letters) | first_of_runs(is.digits) | first_of_runs(is.others);
    const Bits alone = runs & ~after(is.spaces);
    const Bits begins = alone | first_of_runs(white) | last_of_runs(white);
    const Bits contractions = is.apostrophes & alone & before(is.letters);
    return {without_open_white_space(begins, white), doubt_by_unknown(is) | contractions};
}

/// What the scanners of cl100k.hpp and `next_o200k` share.
struct Cut {
    Bits others;  ///< begins of runs of others that take no space
    Bits begins;  ///< as in ChunkEnds
};

/// Digits go by `most_digits`, 1 or 3.
template <int most_digits>
Cut cut_cl100k(const ByteClasses& is) {
    const Bits white = is.white_space(), blanks = is.spaces | is.tabs;
    // Others take one space before them and the line breaks after them.
    const Bits others = first_of_runs(is.others) & ~after(is.spaces);
    const Bits taken_breaks = is.breaks & ~(is.breaks + (is.breaks & after(is.others)));
    // Letters take a blank before them, or a single other.
    const Bits taken = after(blanks | (others & ~is.long_others)) | (others & is.long_others) << 3;
    const Bits words = first_of_runs(is.letters) & ~taken;
    Bits numbers = is.digits;
    if constexpr (most_digits == 3) {
        numbers = first_of_runs(is.digits);
        const Bits fourth = is.digits & after(is.digits & after(is.digits & after(is.digits)));
        for (Bits more = numbers << 3 & fourth; more != 0; more = more << 3 & fourth) numbers |= more;
    }
    // White space goes up to its last line break, then up to its last blank, which goes to what follows.
    Bits after_breaks = after(is.breaks) & ~is.breaks;
    const Bits inner = blanks & after(is.breaks & ~taken_breaks);
    const Bits more_breaks = (blanks + inner) & ~blanks & is.breaks;  // after the blanks that begin there
    if (more_breaks != 0) [[unlikely]] after_breaks &= ~back_to_begin_of_run(before(more_breaks), blanks);
    const Bits spaces = first_of_runs(white & ~taken_breaks) | (last_of_runs(white) & blanks) | after_breaks;
    return {others, without_open_white_space(words | others | numbers | spaces, white)};
}

/// The scanners of cl100k.hpp. An apostrophe may begin a contraction.
template <int most_digits>
ChunkEnds cl100k(const ByteClasses& is) {
    const Cut cut = cut_cl100k<most_digits>(is);
    const Bits contractions = is.apostrophes & cut.others & before(is.letters);
    return {cut.begins, doubt_by_unknown(is) | contractions};
}

/// `next_o200k`. A word ends before a capital that follows a small letter. A contraction belongs to the word before it,
/// and a slash after line breaks to the chunk that took those.
inline ChunkEnds o200k(const ByteClasses& is) {
    const Bits begins = cut_cl100k<3>(is).begins | (is.capitals & after(is.letters & ~is.capitals));
    const Bits maybe_letters = before(is.letters | is.unknown) | Bits{1} << (ByteClasses::width - 1);
    const Bits contractions = is.apostrophes & after(is.letters) & maybe_letters;
    const Bits slashes = is.slashes & after(is.breaks);
    return {begins, doubt_by_unknown(is) | contractions | before(contractions | slashes)};
}

/// `next_paper` and `next_reference`: letters, with or without a space before them, are a chunk if a space follows.
/// Everything else is doubtful.
inline ChunkEnds words(const ByteClasses& is) {
    return {is.spaces, ~(is.letters | (is.spaces & before(is.letters)))};
}

}  // namespace chunk_ends

/// How a pretokenizer finds the ends in a block. Empty where its scanner is as fast.
template <NextChunk next_chunk>
struct BlockRules {};
template <>
struct BlockRules<next_paper> {
    static constexpr bool only_ascii = true;
    static constexpr auto find_ends = chunk_ends::words;
};
template <>
struct BlockRules<next_reference> : BlockRules<next_paper> {};
template <>
struct BlockRules<next_gpt2> {
    static constexpr bool only_ascii = false;
    static constexpr auto find_ends = chunk_ends::gpt2;
};
template <>
struct BlockRules<next_cl100k> {
    static constexpr bool only_ascii = false;
    static constexpr auto find_ends = chunk_ends::cl100k<3>;
};
template <>
struct BlockRules<next_llama3> : BlockRules<next_cl100k> {};
template <>
struct BlockRules<next_qwen2> {
    static constexpr bool only_ascii = false;
    static constexpr auto find_ends = chunk_ends::cl100k<1>;
};
template <>
struct BlockRules<next_o200k> {
    static constexpr bool only_ascii = true;
    static constexpr auto find_ends = chunk_ends::o200k;
};

}  // namespace prunedbpe
