// Pretokenizers: text -> chunks, the pieces that merges never cross.
//
// Every built-in pretokenizer is a function that, given the start of a chunk, finds its end. It looks
// only forward, so cutting is a loop without state, and any thread may start at any document. Text
// should be valid UTF-8; on other bytes the cuts are arbitrary but still safe, and the chunks joined
// are always the text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace prunedbpe {

/// Returns the end of the chunk starting at `begin`; needs begin < end, returns a pointer in
/// (begin, end]. Linear in the length of the chunk plus the look-ahead to its right.
using NextChunk = const char* (*)(const char* begin, const char* end);

/// The scanner of a built-in pretokenizer (paper, reference, gpt2, cl100k, o200k, none), or nullptr.
NextChunk find_pretokenizer(std::string_view name);

/// Version of the Unicode data behind the scanners, for instance "18.0.0".
std::string_view unicode_version();

/// The class flags (see unicode_tables.hpp) of all 0x110000 code points: what another library's
/// pattern must be made of to cut as the scanners do.
std::vector<std::uint16_t> code_point_flags();

/// Calls `emit(std::string_view chunk)` for every chunk of `text`, in order.
template <class Emit>
void for_each_chunk(NextChunk next, std::string_view text, Emit&& emit) {
    const char* begin = text.data();
    const char* const end = begin + text.size();
    while (begin < end) {
        const char* const stop = next(begin, end);
        emit(std::string_view(begin, static_cast<std::size_t>(stop - begin)));
        begin = stop;
    }
}

}  // namespace prunedbpe
