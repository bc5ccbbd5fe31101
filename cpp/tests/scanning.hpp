// The chunk scanners against their pretokenizers, on any bytes. For tests and fuzzing.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "check.hpp"
#include "pretokenizers/chunk_scanner.hpp"
#include "prunedbpe/pretokenizers.hpp"

namespace scanning {

using prunedbpe::ChunkScanner;
using prunedbpe::NextChunk;
using prunedbpe::SixteenBytes;

/// Cuts a copy of the text that ends where its memory ends, so that sanitizers see a byte too far.
inline void check_cut(NextChunk next, const std::string& text) {
    const auto exact = std::make_unique<char[]>(text.size());
    std::copy(text.begin(), text.end(), exact.get());
    std::string joined;
    prunedbpe::for_each_chunk(next, {exact.get(), text.size()}, [&](std::string_view chunk) {
        CHECK(!chunk.empty());
        joined += chunk;
    });
    CHECK(joined == text);
}

/// Scans a copy of the text that ends where its memory ends. `check` gets the begin of the text, the begin and end of a
/// chunk, and the end of the text.
template <NextChunk next, class Bytes, class Check>
void scan_copy(const std::string& text, Check&& check) {
    const auto exact = std::make_unique<char[]>(text.size());
    std::copy(text.begin(), text.end(), exact.get());
    const char* const end = exact.get() + text.size();
    ChunkScanner<next, Bytes> scanner(end);
    for (const char* at = exact.get(); at < end;) {
        const char* const before = at;
        scanner.next(at).for_each_end([&](const char* stop) {
            check(exact.get(), at, stop, end);
            at = stop;
        });
        if (at <= before) return;
    }
}

/// Both SIMD variants cut from blocks as `next` cuts chunk by chunk.
template <NextChunk next>
void check_scanner(const std::string& text) {
    const auto check = [](const char* begin, const char* at, const char* stop, const char* end) {
        CHECK_EQUAL(stop - begin, next(at, end) - begin);
    };
    scan_copy<next, SixteenBytes>(text, check);
    scan_copy<next, prunedbpe::simd::portable::SixteenBytes>(text, check);
}

/// On bytes that are not text the chunks may differ, but each ends after its begin and inside the text.
template <NextChunk next>
void check_scanner_is_safe(const std::string& text) {
    const auto check = [](const char*, const char* at, const char* stop, const char* end) {
        CHECK(at < stop && stop <= end);
    };
    scan_copy<next, SixteenBytes>(text, check);
    scan_copy<next, prunedbpe::simd::portable::SixteenBytes>(text, check);
}

/// The text must be UTF-8.
inline void check_scanners(const std::string& text) {
    check_scanner<prunedbpe::next_paper>(text);
    check_scanner<prunedbpe::next_reference>(text);
    check_scanner<prunedbpe::next_gpt2>(text);
    check_scanner<prunedbpe::next_cl100k>(text);
    check_scanner<prunedbpe::next_llama3>(text);
    check_scanner<prunedbpe::next_qwen2>(text);
    check_scanner<prunedbpe::next_o200k>(text);
    check_scanner<prunedbpe::next_none>(text);
}

inline void check_scanners_are_safe(const std::string& text) {
    check_scanner_is_safe<prunedbpe::next_paper>(text);
    check_scanner_is_safe<prunedbpe::next_reference>(text);
    check_scanner_is_safe<prunedbpe::next_gpt2>(text);
    check_scanner_is_safe<prunedbpe::next_cl100k>(text);
    check_scanner_is_safe<prunedbpe::next_llama3>(text);
    check_scanner_is_safe<prunedbpe::next_qwen2>(text);
    check_scanner_is_safe<prunedbpe::next_o200k>(text);
    check_scanner_is_safe<prunedbpe::next_none>(text);
}

}  // namespace scanning
