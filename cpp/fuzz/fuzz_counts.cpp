// Any documents: the table of their chunks equals that of a plain map, for any number of threads, batches and sources,
// and when tables of parts are reduced.
//
// Input: a line of settings (pretokenizer, threads, documents per batch, sources), then a document per line.
#include <map>

#include "fuzz_input.hpp"
#include "prunedbpe/corpus.hpp"
#include "prunedbpe/counts.hpp"

using namespace prunedbpe;

namespace {

struct Row {
    std::string chunk;
    std::int64_t count;
    std::int64_t first_position;
    bool operator==(const Row&) const = default;
};

ChunkCountsView view_of(const ChunkCounts& counts) {
    return {counts.bytes, counts.offsets, counts.counts, counts.first_positions};
}

std::vector<Row> rows(const ChunkCounts& counts) {
    const ChunkCountsView view = view_of(counts);
    CHECK(!find_wrong_row(view));
    std::vector<Row> found;
    for (std::size_t i = 0; i < view.size(); ++i) {
        found.push_back({std::string(view.chunk(i)), view.counts[i], view.first_positions[i]});
    }
    return found;
}

std::vector<Row> count_plainly(NextChunk next, std::string_view text, std::span<const DocumentSpan> documents) {
    std::map<std::string, std::size_t> indices;
    std::vector<Row> found;
    std::int64_t position = 0;
    for (const auto& [begin, end] : documents) {
        const auto document = text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        for_each_chunk(next, document, [&](std::string_view chunk) {
            const auto [at, is_new] = indices.try_emplace(std::string(chunk), found.size());
            if (is_new) found.push_back({std::string(chunk), 0, position});
            ++found[at->second].count;
            position += static_cast<std::int64_t>(chunk.size());
        });
    }
    return found;
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
    const std::vector<Row> expected = count_plainly(next, text, documents);

    ChunkCounter whole(threads), by_source(threads), reduced(threads);
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
    CHECK_EQUAL(rows(whole.finish()), expected);
    CHECK_EQUAL(rows(reduced.finish()), expected);
    const SourceCounts divided = by_source.finish_by_source();
    CHECK_EQUAL(rows(divided.total), expected);
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
