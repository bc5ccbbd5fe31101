// Where the chunks of a block of text end, all at once, from the classes of its bytes.
//
// The first byte of the block must begin a chunk. What the bits alone do not decide is doubtful, and left to the
// scanner of the pretokenizer: it is asked for every chunk that holds a doubtful byte.
#pragma once

#include "pretokenizers/byte_classes.hpp"
#include "pretokenizers/scanners.hpp"
#include "prunedbpe/pretokenizers.hpp"

namespace prunedbpe {

#ifdef PRUNEDBPE_HAS_BYTE_CLASSES

struct ChunkEnds {
    std::uint64_t begins;    ///< where a chunk ends and the next begins
    std::uint64_t doubtful;  ///< a chunk with one of these bytes may end elsewhere
};

namespace chunk_ends {

using Bits = ByteClasses::Bits;

inline Bits before(Bits bits) { return bits >> 1; }
inline Bits behind(Bits bits) { return bits << 1; }
inline Bits first_of_runs(Bits bits) { return bits & ~behind(bits); }
inline Bits last_of_runs(Bits bits) { return bits & ~before(bits); }

/// The part of the runs in `bits` at and before each of `marks`, which are in `bits`.
inline Bits back_to_begin_of_run(Bits marks, Bits bits) {
    Bits found = 0;
    for (; marks != 0; marks = before(marks) & bits) found |= marks;
    return found;
}

/// What an unknown byte makes doubtful: itself, the chunk before it, which it may continue, and white space before
/// it, which is cut by what follows the last of it.
inline Bits doubt_by_unknown(const ByteClasses& is) {
    if (is.unknown == 0) [[likely]] return 0;
    const Bits before_it = before(is.unknown), white = is.white_space();
    return is.unknown | before_it | back_to_begin_of_run(before_it & white, white);
}

/// Of a run of white space that leaves the block only the begin is known.
inline Bits without_open_white_space(Bits begins, Bits white_space) {
    const int open = std::countl_one(white_space);
    return open == 0 ? begins : begins & ~Bits{0} >> (open - 1);
}

/// `next_gpt2`. A run of letters, digits or others takes one space before it; of more white space the last
/// character is cut off. An apostrophe may begin a contraction.
inline ChunkEnds gpt2(const ByteClasses& is) {
    const Bits white = is.white_space();
    const Bits runs = first_of_runs(is.letters) | first_of_runs(is.digits) | first_of_runs(is.others);
    const Bits alone = runs & ~behind(is.spaces);
    const Bits begins = alone | first_of_runs(white) | last_of_runs(white);
    const Bits contractions = is.apostrophes & alone & before(is.letters);
    return {without_open_white_space(begins, white), doubt_by_unknown(is) | contractions};
}

/// What `next_cl100k` and `next_o200k` share.
struct Cut {
    Bits others;  // where runs of others begin that take no space
    Bits begins;
};

inline Cut cut_cl100k(const ByteClasses& is) {
    const Bits white = is.white_space(), blanks = is.spaces | is.tabs;
    // Others take one space before them and line breaks behind them.
    const Bits others = first_of_runs(is.others) & ~behind(is.spaces);
    const Bits taken_breaks = is.breaks & ~(is.breaks + (is.breaks & behind(is.others)));
    // Letters take a blank before them, or one other that is alone.
    const Bits taken = behind(blanks | (others & ~is.long_others)) | (others & is.long_others) << 3;
    const Bits words = first_of_runs(is.letters) & ~taken;
    // Digits go by threes.
    Bits numbers = first_of_runs(is.digits);
    const Bits fourth = is.digits & behind(is.digits & behind(is.digits & behind(is.digits)));
    for (Bits more = numbers << 3 & fourth; more != 0; more = more << 3 & fourth) numbers |= more;
    // White space goes up to its last line break, then up to its last blank, which is cut off.
    Bits behind_breaks = behind(is.breaks) & ~is.breaks;
    const Bits inner = blanks & behind(is.breaks & ~taken_breaks);
    const Bits more_breaks = (blanks + inner) & ~blanks & is.breaks;  // behind the blanks that begin there
    if (more_breaks != 0) [[unlikely]] behind_breaks &= ~back_to_begin_of_run(before(more_breaks), blanks);
    const Bits spaces = first_of_runs(white & ~taken_breaks) | (last_of_runs(white) & blanks) | behind_breaks;
    return {others, without_open_white_space(words | others | numbers | spaces, white)};
}

/// `next_cl100k`. An apostrophe may begin a contraction.
inline ChunkEnds cl100k(const ByteClasses& is) {
    const Cut cut = cut_cl100k(is);
    const Bits contractions = is.apostrophes & cut.others & before(is.letters);
    return {cut.begins, doubt_by_unknown(is) | contractions};
}

/// `next_o200k`. Words end before a capital behind a small letter; a contraction belongs to the word before it, and a
/// slash behind line breaks to what took those.
inline ChunkEnds o200k(const ByteClasses& is) {
    const Bits begins = cut_cl100k(is).begins | (is.capitals & behind(is.letters & ~is.capitals));
    const Bits maybe_letters = before(is.letters | is.unknown) | Bits{1} << (ByteClasses::width - 1);
    const Bits contractions = is.apostrophes & behind(is.letters) & maybe_letters;
    const Bits slashes = is.slashes & behind(is.breaks);
    return {begins, doubt_by_unknown(is) | contractions | before(contractions | slashes)};
}

/// `next_paper` and `next_reference`: letters, maybe behind a space, are a chunk where a space follows. All else is
/// doubtful.
inline ChunkEnds words(const ByteClasses& is) {
    return {is.spaces, ~(is.letters | (is.spaces & before(is.letters)))};
}

}  // namespace chunk_ends

/// How the ends of a pretokenizer's chunks are found. Where its scanner is as quick, there is nothing here.
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
    static constexpr auto find_ends = chunk_ends::cl100k;
};
template <>
struct BlockRules<next_o200k> {
    static constexpr bool only_ascii = true;
    static constexpr auto find_ends = chunk_ends::o200k;
};

#endif

}  // namespace prunedbpe
