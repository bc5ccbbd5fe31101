// Any merges and any text: encoding by rank equals merging step by step and expanding, and decodes to the text.
//
// Input: a line with the pretokenizer, a line of merges, a line of visibility ('-' hides the merge at its place), then
// the text. A merge is two characters: a capital letter is an earlier merge, "A" the first; so is a byte from 0x80 on;
// any other character is itself.
#include "corpora.hpp"
#include "fuzz_input.hpp"
#include "prunedbpe/corpus.hpp"

using namespace prunedbpe;

namespace {

/// Leaves out a merge that makes a token unreachable: loading a vocabulary refuses it.
std::vector<Merge> read_merges(std::string_view line) {
    std::vector<Merge> merges;
    const auto part = [&](char c) {
        const auto byte = static_cast<unsigned char>(c);
        const unsigned earlier = byte >= 0x80 ? byte - 0x80u : byte - unsigned{'A'};
        const bool is_merge = (byte >= 0x80 || (c >= 'A' && c <= 'Z')) && earlier < merges.size();
        return Rank{is_merge ? byte_count + earlier : byte};
    };
    for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
        merges.push_back({part(line[i]), part(line[i + 1])});
        if (find_unreachable(merges)) merges.pop_back();
    }
    return merges;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const NextChunk next = input.pretokenizer();
    input.line();
    const std::vector<Merge> merges = read_merges(input.line());
    const std::string_view hidden = input.line();
    const fuzz::ExactCopy text(input.rest());
    if (find_invalid_utf8(text.view()) != -1) return 0;  // every caller checks

    // Ids are ranks here.
    const std::size_t ranks = byte_count + merges.size();
    const auto visible = std::make_unique<bool[]>(ranks);
    std::vector<std::uint32_t> ids(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        ids[rank] = rank;
        visible[rank] = rank < byte_count || rank - byte_count >= hidden.size() || hidden[rank - byte_count] != '-';
    }
    const ExpandedRanks expanded = expand_internal(merges, {visible.get(), ranks}, ids);
    std::vector<std::uint32_t> expected;
    for_each_chunk(next, text.view(), [&](std::string_view chunk) {
        for (const std::uint32_t rank : plain::merge(merges, std::string(chunk))) {
            const auto begin = expanded.ids.begin() + expanded.offsets[rank];
            expected.insert(expected.end(), begin, expanded.ids.begin() + expanded.offsets[rank + 1]);
        }
    });

    const Encoder encoder(merges, {expanded.ids, expanded.offsets}, next);
    const TokenStrings strings = spell(merges);
    const Decoder decoder(strings.bytes, strings.offsets);
    const UnicodeText unicode = UnicodeText::utf8(text.view());
    IdBuffer encoded, dropped;
    encoder.encode(unicode, {}, encoded);
    CHECK_EQUAL(fuzz::as_vector(encoded), expected);
    CHECK_EQUAL(fuzz::decode(decoder, encoded.span()), text.view());
    encoder.encode(unicode, {0.5, size}, dropped);
    CHECK_EQUAL(fuzz::decode(decoder, dropped.span()), text.view());
    return 0;
}
