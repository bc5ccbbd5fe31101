// Any bytes as a corpus: where the first invalid UTF-8 is, and where the lines are, against plain loops.
#include <functional>

#include "fuzz_input.hpp"
#include "prunedbpe/corpus.hpp"

using namespace prunedbpe;

namespace {

/// By the definition: decode a character, encode it again, and compare.
std::int64_t find_invalid_plainly(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
        const std::size_t length = byte(0) < 0x80 ? 1 : byte(0) >> 5 == 6 ? 2 : byte(0) >> 4 == 14 ? 3 : byte(0) >> 3 == 30 ? 4 : 0;
        if (length == 0 || at + length > text.size()) return static_cast<std::int64_t>(at);
        std::uint32_t character = length == 1 ? byte(0) : byte(0) & (0x7Fu >> length);
        for (std::size_t i = 1; i < length; ++i) {
            if (byte(i) >> 6 != 2) return static_cast<std::int64_t>(at);
            character = character << 6 | (byte(i) & 0x3F);
        }
        constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
        const bool is_surrogate = character >= 0xD800 && character < 0xE000;
        if (character < least[length] || is_surrogate || character > 0x10FFFF) return static_cast<std::int64_t>(at);
        at += length;
    }
    return -1;
}

std::vector<std::string> split_plainly(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t newline = text.find('\n');
        std::string_view line = text.substr(0, newline);
        text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
        if (newline != std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
        if (!line.empty()) lines.emplace_back(line);
    }
    return lines;
}

void check_text(std::string_view text, unsigned threads) {
    CHECK_EQUAL(find_invalid_utf8(text, threads), find_invalid_plainly(text));
    std::vector<std::string> lines;
    for (const auto& [begin, end] : split_lines(text, threads)) {
        lines.emplace_back(text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    }
    CHECK_EQUAL(lines, split_plainly(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::Input input(data, size);
    check_text(fuzz::ExactCopy(input.rest()).view(), 1);
    // Threads share only texts of megabytes, which are slow. A few inputs go across the border between two threads.
    if (std::hash<std::string_view>{}(input.rest()) % 512 == 0) {
        std::string large(std::size_t{2} << 20, 'x');
        large.replace((std::size_t{1} << 20) - std::min<std::size_t>(size / 2, 1 << 19), size, input.rest());
        check_text(large, 2);
    }
    return 0;
}
