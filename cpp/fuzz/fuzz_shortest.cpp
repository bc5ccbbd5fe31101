// Any visible strings and any text: the segmentation is that of the plain recurrence, and decodes to the text.
//
// Input: a line with the pretokenizer, a line of strings with spaces between them, then the text.
#include <map>

#include "fuzz_input.hpp"
#include "prunedbpe/corpus.hpp"
#include "prunedbpe/shortest.hpp"

using namespace prunedbpe;

namespace {

/// Visible strings and their ids, in two forms.
struct Strings {
    std::map<std::string, std::uint32_t> ids_of;
    std::vector<std::uint32_t> ids;
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets{0};

    void add(const std::string& string) {
        const auto id = static_cast<std::uint32_t>(ids.size());
        if (string.empty() || !ids_of.emplace(string, id).second) return;
        ids.push_back(id);
        bytes.insert(bytes.end(), string.begin(), string.end());
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
};

Strings read_strings(std::string_view line) {
    Strings strings;
    for (unsigned byte = 0; byte < byte_count; ++byte) strings.add(std::string(1, static_cast<char>(byte)));
    while (!line.empty()) {
        const std::size_t space = std::min(line.find(' '), line.size());
        strings.add(std::string(line.substr(0, space)));
        line.remove_prefix(std::min(space + 1, line.size()));
    }
    return strings;
}

/// The fewest tokens of a chunk, the longest last of equals.
std::vector<std::uint32_t> cut_plainly(const Strings& strings, const std::string& chunk) {
    struct Best {
        std::size_t tokens;
        std::size_t begin;  ///< of the last token
    };
    std::vector<Best> best(chunk.size() + 1, {0, 0});
    for (std::size_t end = 1; end <= chunk.size(); ++end) {
        best[end].tokens = chunk.size() + 1;
        for (std::size_t begin = 0; begin < end; ++begin) {  // the longest last token first
            const std::size_t tokens = best[begin].tokens + 1;
            if (tokens < best[end].tokens && strings.ids_of.contains(chunk.substr(begin, end - begin))) {
                best[end] = {tokens, begin};
            }
        }
    }
    std::vector<std::uint32_t> ids;
    for (std::size_t end = chunk.size(); end > 0; end = best[end].begin) {
        ids.push_back(strings.ids_of.at(chunk.substr(best[end].begin, end - best[end].begin)));
    }
    return {ids.rbegin(), ids.rend()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const NextChunk next = input.pretokenizer();
    input.line();
    const Strings strings = read_strings(input.line());
    const fuzz::ExactCopy text(input.rest().substr(0, 500));  // the recurrence is slow on long texts
    if (find_invalid_utf8(text.view()) != -1) return 0;       // every caller checks

    std::vector<std::uint32_t> expected;
    for_each_chunk(next, text.view(), [&](std::string_view chunk) {
        const std::vector<std::uint32_t> ids = cut_plainly(strings, std::string(chunk));
        expected.insert(expected.end(), ids.begin(), ids.end());
    });
    const ShortestEncoder encoder(strings.bytes, strings.offsets, strings.ids, next);
    IdBuffer encoded;
    encoder.encode(UnicodeText::utf8(text.view()), encoded);
    CHECK_EQUAL(fuzz::as_vector(encoded), expected);
    CHECK_EQUAL(fuzz::decode(Decoder(strings.bytes, strings.offsets), encoded.span()), text.view());
    return 0;
}
