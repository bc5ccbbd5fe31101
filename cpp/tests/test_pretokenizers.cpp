#include <string>
#include <vector>

#include "check.hpp"
#include "prunedbpe/corpus.hpp"
#include "prunedbpe/pretokenizers.hpp"
#include "scanning.hpp"

using namespace prunedbpe;
using namespace scanning;

namespace {

const std::vector<std::string> names{"paper", "reference", "gpt2", "cl100k", "llama3", "qwen2", "o200k", "none"};

void append_utf8(std::string& text, std::uint32_t c) {
    if (c < 0x80) {
        text += static_cast<char>(c);
    } else if (c < 0x800) {
        text += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
    } else if (c < 0x10000) {
        text += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)),
                 static_cast<char>(0x80 | (c & 63))};
    } else {
        text += {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 63)),
                 static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
    }
}

std::string random_utf8(check::Random& random, std::size_t length) {
    static const std::string signs = " \n\r\t.'-_/<C+#a1Z0";
    std::string text;
    for (std::size_t i = 0; i < length; ++i) {
        const std::size_t kind = random.below(8);
        if (kind < 5) {
            text += signs[random.below(signs.size())];
            continue;
        }
        const auto c = static_cast<std::uint32_t>(random.below(kind == 5 ? 0x800 : kind == 6 ? 0xD800 : 0x110000));
        append_utf8(text, c >= 0xD800 && c < 0xE000 ? 0x2019 : c);
    }
    return text;
}

}  // namespace

CASE("chunk scanner: SSE2 and portable blocks cut as the pretokenizer cuts chunks") {
    check::Random random(43);
    const std::vector<std::string> pieces{
        // Plain text first, rarer things later.
        "a", "word", "Then", " ", " ", " ", "\n", ".", ",", "s", "ll", "verylongwordthatleavesblocks", "  ", "(", "\"", "'",
        "-", "1", "2026", "1234567", "_", "/", "+", "#", "\r\n", "\t", "\n  \n", "\v", "camelCase", "HTML", "\xC3\xA9",
        "\xC3\x97", "\xC3\xB7", "\xD0\xA1\xD0\xBB\xD0\xBE", "\xCE\xBB\xCF\x8C\xCE\xB3", "\xCE\x87", "\xCF\xB6",
        "\xD7\xA9\xD7\x9C", "\xD9\x85\xD9\x8E", "\xE2\x80\x99", "\xE2\x80\x9C", "\xE2\x80\x94", "\xE2\x80\xA6",
        "\xE2\x80\xA8", "\xC2\xA0", "\xC2\xB2", "\xC2\xBD", "\xE2\x82\xAC", "\xE4\xB8\xAD", "\xE3\x80\x80",
        "\xE0\xB8\x81", "\xC5\xBF", "'\xC5\xBF", "\xF0\x9F\x98\x80", std::string(1, '\0'), "\x7F", "\x1F"};
    for (int round = 0; round < 20000; ++round) {
        const std::size_t kinds = 1 + random.below(pieces.size());  // from plain text to everything mixed
        std::string text;
        for (std::size_t i = random.below(60); i > 0; --i) text += pieces[random.below(kinds)];
        check_scanners(text);
    }
    for (int round = 0; round < 500; ++round) check_scanners(random_utf8(random, random.below(200)));
    // The same piece at every position of a block, and across its end.
    for (const std::string& piece : pieces) {
        for (std::size_t before = 0; before < 70; ++before) {
            for (const std::string neighbour : {"a", " ", ".", "1", "\n", "\xE2\x80\x99"}) {
                check_scanners(std::string(before, 'x') + neighbour + piece + neighbour + piece + " end of it.");
            }
        }
    }
}

CASE("pretokenizers: lossless on valid text") {
    check::Random random(40);
    for (int round = 0; round < 600; ++round) {
        const std::string text = random_utf8(random, random.below(60));
        CHECK_EQUAL(find_invalid_utf8(text), -1);
        for (const std::string& name : names) check_cut(find_pretokenizer(name), text);
    }
}

CASE("pretokenizers: chunks of valid text are valid text") {
    check::Random random(41);
    for (int round = 0; round < 300; ++round) {
        const std::string text = random_utf8(random, random.below(60));
        for (const std::string& name : names) {
            for_each_chunk(find_pretokenizer(name), text,
                           [](std::string_view chunk) { CHECK_EQUAL(find_invalid_utf8(chunk), -1); });
        }
    }
}

CASE("pretokenizers: safe on any bytes") {
    check::Random random(42);
    for (int round = 0; round < 3000; ++round) {
        std::string text = round % 2 == 0 ? std::string() : random_utf8(random, random.below(20));
        if (round % 2 == 0) {
            for (std::size_t i = random.below(40); i > 0; --i) text += static_cast<char>(random.below(256));
        } else if (!text.empty()) {
            text.resize(1 + random.below(text.size()));  // often inside a character
            text[random.below(text.size())] = static_cast<char>(random.below(256));
        }
        for (const std::string& name : names) check_cut(find_pretokenizer(name), text);
        check_scanners_are_safe(text);
    }
}

CASE("pretokenizers: every single byte, pair of bytes, and cut-off character") {
    for (const std::string& name : names) {
        const NextChunk next = find_pretokenizer(name);
        for (int a = 0; a < 256; ++a) {
            check_cut(next, std::string(1, static_cast<char>(a)));
            for (int b = 0; b < 256; b += 3) check_cut(next, {static_cast<char>(a), static_cast<char>(b)});
            check_cut(next, {'a', static_cast<char>(a)});
            check_cut(next, {' ', static_cast<char>(a)});
            check_cut(next, {'a', '.', static_cast<char>(a)});
            check_cut(next, {static_cast<char>(a), '\x80', '\x80'});
        }
    }
}

CASE("pretokenizers: by name") {
    for (const std::string& name : names) CHECK(find_pretokenizer(name) != nullptr);
    for (const std::string name : {"", "Paper", "nope"}) CHECK(find_pretokenizer(name) == nullptr);
    CHECK(!unicode_version().empty());
}

CASE("UTF-8: what is invalid, and where") {
    struct Example {
        std::string text;
        std::int64_t at;
    };
    for (const auto& [text, at] : std::vector<Example>{
             {"", -1},
             {std::string("a\0b", 3), -1},
             {"\x80", 0},
             {"ab\xC3", 2},
             {"\xC0\x80", 0},          // overlong
             {"\xE0\x80\x80", 0},      // overlong
             {"\xED\xA0\x80", 0},      // a surrogate
             {"\xF4\x90\x80\x80", 0},  // above U+10FFFF
             {"\xF4\x8F\xBF\xBF", -1},
             {"12345678\xFF", 8},
             {"1234567\xE4\xB8", 7},
             {"\xF8\x88\x80\x80\x80", 0},
         }) {
        CHECK_EQUAL(find_invalid_utf8(text), at);
    }
}

CASE("lines: without their ends, empty ones left out") {
    const auto lines = [](std::string_view text) {
        std::vector<std::string> found;
        for (const DocumentSpan& span : split_lines(text)) {
            found.emplace_back(text.substr(static_cast<std::size_t>(span.begin),
                                           static_cast<std::size_t>(span.end - span.begin)));
        }
        return found;
    };
    using Lines = std::vector<std::string>;
    CHECK_EQUAL(lines(""), Lines{});
    CHECK_EQUAL(lines("\n\r\n\n"), Lines{});
    CHECK_EQUAL(lines("a\nb\r\nc"), (Lines{"a", "b", "c"}));
    CHECK_EQUAL(lines("a\rb\n"), (Lines{"a\rb"}));
    CHECK_EQUAL(lines("\r\r\n"), (Lines{"\r"}));
}
