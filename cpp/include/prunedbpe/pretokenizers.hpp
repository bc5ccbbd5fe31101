// Pretokenizers: text -> chunks, the pieces that merges never cross.
//
// A built-in pretokenizer is a function from the start of a chunk to its end. It looks only forward, so cutting is a loop
// without state, and any thread may start at any document. Text should be valid UTF-8. On other bytes the cuts are
// arbitrary but safe. The chunks joined are always the text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace prunedbpe {

/// Returns the end of the chunk that starts at `begin`, a pointer in (begin, end]; needs begin < end. Linear in the
/// length of the chunk plus its look-ahead.
using NextChunk = const char* (*)(const char* begin, const char* end);

/// The scanner of a built-in pretokenizer: "paper", "reference", "gpt2", "cl100k", "llama3", "qwen2", "o200k" or "none"
/// (one chunk per text). nullptr for any other name.
NextChunk find_pretokenizer(std::string_view name);

/// Version of the Unicode data that the scanners use, for instance "18.0.0".
std::string_view unicode_version();

/// The class flags (unicode_tables.hpp) of all 0x110000 code points, for patterns that make another library cut as the
/// scanners do.
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

/// End offset in bytes of every chunk of `text`.
std::vector<std::int64_t> find_chunk_ends(NextChunk next, std::string_view text);

}  // namespace prunedbpe
