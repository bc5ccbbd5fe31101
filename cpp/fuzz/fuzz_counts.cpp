// Any documents: the table of their chunks equals that of a plain map, for any number of threads, batches and sources,
// and when tables of parts are reduced.
//
// Input: a line of settings (pretokenizer, threads, documents per batch, sources), then a document per line.
#include "fuzz_input.hpp"
#include "plain_counts.hpp"
#include "prunedbpe/corpus.hpp"
#include "prunedbpe/counts.hpp"

using namespace prunedbpe;

namespace {

ChunkCountsView view_of(const ChunkCounts& counts) {
    return {counts.bytes, counts.offsets, counts.counts, counts.first_positions};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const NextChunk next = input.pretokenizer();
    const auto threads = static_cast<unsigned>(1 + input.number(3));
    const std::size_t batch_size = 1 + input.number(10);
    const std::size_t source_count = 1 + input.number(4);
    input.line();
    const fuzz::ExactCopy copy(input.rest());
    const std::string_view text = copy.view();
    if (find_invalid_utf8(text) != -1) return 0;  // every caller checks
    const HugeVector<DocumentSpan> documents = split_lines(text);
    plain::Counter plainly(next);
    plainly.add(text, documents);
    const std::vector<plain::Row>& expected = plainly.rows();

    ChunkCounter whole(threads), by_source(threads, true), reduced(threads);
    std::int64_t shift = 0;
    for (std::size_t begin = 0; begin < documents.size(); begin += batch_size) {
        const std::span<const DocumentSpan> batch(documents.data() + begin, std::min(batch_size, documents.size() - begin));
        std::vector<std::uint32_t> sources;
        for (std::size_t i = 0; i < batch.size(); ++i) sources.push_back(static_cast<std::uint32_t>((begin + i) % source_count));
        whole.add_documents(next, text, batch);
        by_source.add_documents(next, text, batch, sources);
        ChunkCounter part(1);
        part.add_documents(next, text, batch);
        const std::int64_t bytes = part.position();
        reduced.add_counts(view_of(part.finish()), shift);
        shift += bytes;
    }
    CHECK_EQUAL(plain::rows(whole.finish()), expected);
    CHECK_EQUAL(plain::rows(reduced.finish()), expected);
    const SourceCounts divided = by_source.finish_by_source();
    CHECK_EQUAL(plain::rows(divided.total), expected);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        std::int64_t sum = 0;
        for (auto cell = static_cast<std::size_t>(divided.offsets[i]); cell < static_cast<std::size_t>(divided.offsets[i + 1]); ++cell) {
            CHECK(divided.sources[cell] < source_count && divided.counts[cell] > 0);
            sum += divided.counts[cell];
        }
        CHECK_EQUAL(sum, expected[i].count);
    }
    return 0;
}
