// Any bytes as vocabulary files. What the reader accepts, it writes and reads again as the same vocabulary, and a text
// encoded with it decodes to itself.
//
// Input: the lines of vocab.txt after those of the 256 bytes, an empty line, inter_vocab.txt. Bytes given as a whole file
// would hardly ever be accepted after damage.
#include "corpora.hpp"
#include "fuzz_input.hpp"
#include "prunedbpe/vocabulary.hpp"

using namespace prunedbpe;

namespace {

bool is_printable(char32_t character) { return character >= ' ' && character % 3 != 0; }  // some of either kind

WrittenVocabulary write(const VocabularyFiles& files) {
    const auto visible = std::make_unique<bool[]>(files.visible.size());
    std::copy(files.visible.begin(), files.visible.end(), visible.get());
    const std::vector<std::string_view> special_tokens(files.special_tokens.begin(), files.special_tokens.end());
    return write_vocabulary(files.merges, {visible.get(), files.visible.size()}, special_tokens, is_printable);
}

const std::string& lines_of_bytes() {
    static const std::string lines = write({{}, std::vector<unsigned char>(byte_count, 1), {}}).visible_file;
    return lines;
}

void check_encoding(const VocabularyFiles& files, std::string_view text) {
    const auto visible = std::make_unique<bool[]>(files.visible.size());
    std::copy(files.visible.begin(), files.visible.end(), visible.get());
    const std::span<const bool> flags(visible.get(), files.visible.size());
    std::vector<std::uint32_t> ranks(files.visible.size());
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) ranks[rank] = rank;
    const ExpandedRanks expanded = expand_internal(files.merges, flags, ranks);
    const Encoder encoder(files.merges, {expanded.ids, expanded.offsets}, find_pretokenizer("none"));
    const TokenStrings strings = spell(files.merges);
    IdBuffer ids;
    encoder.encode(UnicodeText::utf8(text), {}, ids);
    for (const std::uint32_t rank : ids.span()) CHECK(files.visible[rank]);
    CHECK_EQUAL(fuzz::decode(Decoder(strings.bytes, strings.offsets), ids.span()), text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input = fuzz::Input(data, size).rest();
    const std::size_t divider = std::min(input.find("\n\n"), input.size());
    const std::size_t visible_end = std::min(divider + 1, input.size());  // with its line break
    const fuzz::ExactCopy visible(lines_of_bytes() + std::string(input.substr(0, visible_end)));
    const fuzz::ExactCopy internal(input.substr(std::min(divider + 2, input.size())));
    static_cast<void>(read_vocabulary(internal.view(), visible.view()));

    const auto read = read_vocabulary(visible.view(), internal.view());
    if (!read) return 0;
    CHECK_EQUAL(read->visible.size(), byte_count + read->merges.size());
    CHECK(!find_late_part(read->merges));
    const WrittenVocabulary written = write(*read);
    const auto again = read_vocabulary(written.visible_file, written.internal_file);
    CHECK(again.has_value());
    CHECK_EQUAL(plain::flat(again->merges), plain::flat(read->merges));
    CHECK_EQUAL(again->visible, read->visible);
    CHECK_EQUAL(again->special_tokens, read->special_tokens);
    const WrittenVocabulary twice = write(*again);
    CHECK_EQUAL(twice.visible_file, written.visible_file);
    CHECK_EQUAL(twice.internal_file, written.internal_file);
    if (!find_unreachable(read->merges)) check_encoding(*read, visible.view());
    return 0;
}
