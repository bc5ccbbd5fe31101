// Any bytes as a token: its line in a vocabulary file, whichever characters Python calls printable, reads back as the
// same token.
#include "fuzz_input.hpp"
#include "vocabulary/vocabulary_lines.hpp"

using namespace prunedbpe;

namespace {

void check_token(std::string_view token, IsPrintable is_printable) {
    std::string line;
    append_vocabulary_line(line, {7, 1, 2, token, 300}, is_printable);
    CHECK_EQUAL(line.find('\n'), line.size() - 1);
    const auto read = read_vocabulary_lines(fuzz::ExactCopy(line).view(), 7);
    CHECK(read.has_value());
    CHECK_EQUAL(read->ranks, std::vector<std::int64_t>{300});
    CHECK_EQUAL(read->tokens[0], token);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;  // no token is empty
    const fuzz::ExactCopy token(fuzz::Input(data, size).rest());
    check_token(token.view(), [](char32_t) { return true; });
    check_token(token.view(), [](char32_t) { return false; });
    check_token(token.view(), [](char32_t character) { return character % 2 == 0; });
    return 0;
}
