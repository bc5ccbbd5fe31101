#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "counts/chunk_table.hpp"
#include "plain_counts.hpp"
#include "prunedbpe/counts.hpp"

using namespace prunedbpe;
using plain::Row;
using plain::rows;

namespace {

struct Batch {
    std::string text;
    std::vector<DocumentSpan> documents;
};

Batch random_batch(check::Random& random, std::size_t documents) {
    Batch batch;
    for (std::size_t i = 0; i < documents; ++i) {
        batch.text += "?";  // between documents, part of none
        const auto begin = static_cast<std::int64_t>(batch.text.size());
        for (std::size_t words = random.below(6); words > 0; --words) batch.text += random.word("ab ", 9);
        batch.documents.push_back({begin, static_cast<std::int64_t>(batch.text.size())});
    }
    return batch;
}

std::vector<Row> plain_count(NextChunk next, const std::vector<Batch>& batches) {
    plain::Counter counter(next);
    for (const Batch& batch : batches) counter.add(batch.text, batch.documents);
    return counter.rows();
}

}  // namespace

CASE("chunk table: against a map, while it grows") {
    check::Random random(1);
    ChunkTable table;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> expected;
    for (std::int64_t i = 0; i < 30000; ++i) {
        // Short and long keys, with zeros as in padding, some with readable bytes after them.
        const std::string chunk = random.word(std::string("ab\0\xff", 4), 40);
        const std::string after(random.below(2) == 0 ? 0 : random.below(20), 'x');
        const auto memory = std::make_unique<char[]>(chunk.size() + after.size());
        std::copy(after.begin(), after.end(), std::copy(chunk.begin(), chunk.end(), memory.get()));
        const auto position = static_cast<std::int64_t>(random.below(1000000));
        const auto count = static_cast<std::int64_t>(1 + random.below(3)) << random.below(40);
        table.add(make_chunk_key({memory.get(), chunk.size()}, memory.get() + chunk.size() + after.size()), count,
                  position);
        const auto [found, added] = expected.try_emplace(chunk, 0, position);
        found->second.first += count;
        found->second.second = std::min(found->second.second, position);
    }
    CHECK_EQUAL(table.size(), expected.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto& [count, position] = expected.at(std::string(table[i].key()));
        CHECK_EQUAL(table[i].count, count);
        CHECK_EQUAL(table.first_position(i), position);
    }
    CHECK(!table.is_ordered());
}

CASE("chunk table: knows whether it is in order") {
    ChunkTable table;
    const std::string very_long(1 << 17, 'x');
    const auto add = [&](std::string_view chunk, std::int64_t position) {
        table.add(make_chunk_key(chunk, chunk.data() + chunk.size()), 1, position);
    };
    add("ab", 0);
    add(very_long, 2);  // longer than half a block of the arena
    add("ab", 7);
    add("c", 9);
    CHECK(table.is_ordered());
    CHECK_EQUAL(table[1].key(), std::string_view(very_long));
    add("c", 8);  // lower, but still after the others: reported as unordered, which is safe
    add("ab", 3);
    CHECK_EQUAL(table.first_position(0), 0);
    CHECK_EQUAL(table.first_position(2), 8);
    CHECK(!table.is_ordered());
}

CASE("counting: the same for any number of threads and batches") {
    const NextChunk next = find_pretokenizer("paper");
    check::Random random(2);
    for (int round = 0; round < 30; ++round) {
        std::vector<Batch> batches;
        for (std::size_t i = random.below(4); i > 0; --i) batches.push_back(random_batch(random, random.below(20)));
        const std::vector<Row> expected = plain_count(next, batches);
        for (const unsigned threads : {1u, 2u, 7u}) {
            ChunkCounter counter(threads);
            for (const Batch& batch : batches) counter.add_documents(next, batch.text, batch.documents);
            CHECK_EQUAL(rows(counter.finish()), expected);
            CHECK_EQUAL(counter.position(), 0);  // and is empty again
            CHECK(rows(counter.finish()).empty());
        }
    }
}

CASE("counting: tables of parts make the table of the whole") {
    const NextChunk next = find_pretokenizer("gpt2");
    check::Random random(3);
    for (int round = 0; round < 30; ++round) {
        const std::vector<Batch> batches{random_batch(random, 9), random_batch(random, 0), random_batch(random, 5)};
        ChunkCounter whole(1);
        std::int64_t shift = 0;
        for (const Batch& batch : batches) {
            ChunkCounter part(2);
            part.add_documents(next, batch.text, batch.documents);
            const std::int64_t bytes = part.position();
            const ChunkCounts counts = part.finish();
            whole.add_counts({counts.bytes, counts.offsets, counts.counts, counts.first_positions}, shift);
            shift += bytes;
        }
        CHECK_EQUAL(rows(whole.finish()), plain_count(next, batches));
    }
}

CASE("counting: sources divide the table of the whole, however they interleave") {
    const NextChunk next = find_pretokenizer("paper");
    check::Random random(4);
    for (int round = 0; round < 30; ++round) {
        const std::vector<Batch> batches{random_batch(random, 12), random_batch(random, 0), random_batch(random, 7)};
        for (const unsigned threads : {1u, 3u}) {
            ChunkCounter counter(threads, true);
            std::array<ChunkCounter, 3> alone{ChunkCounter(1), ChunkCounter(1), ChunkCounter(1)};  // by source
            for (const Batch& batch : batches) {
                std::vector<std::uint32_t> sources;
                for (const DocumentSpan& document : batch.documents) {
                    sources.push_back(static_cast<std::uint32_t>(random.below(3)));
                    alone[sources.back()].add_documents(next, batch.text, {&document, 1});
                }
                counter.add_documents(next, batch.text, batch.documents, sources);
            }
            const bool joined = random.below(2) == 0;
            if (joined) counter.regroup(std::vector<std::uint32_t>{0, 1, 0});
            const SourceCounts found = counter.finish_by_source();
            CHECK_EQUAL(rows(found.total), plain_count(next, batches));
            std::map<std::pair<std::uint32_t, std::string>, std::int64_t> expected, cells;
            for (std::uint32_t source = 0; source < 3; ++source) {
                for (const Row& row : rows(alone[source].finish())) {
                    expected[{joined && source == 2 ? 0 : source, row.chunk}] += row.count;
                }
            }
            const std::vector<Row> total = rows(found.total);
            for (std::size_t i = 0; i < total.size(); ++i) {
                for (auto cell = static_cast<std::size_t>(found.offsets[i]);
                     cell < static_cast<std::size_t>(found.offsets[i + 1]); ++cell) {
                    CHECK(cells.emplace(std::pair{found.sources[cell], total[i].chunk}, found.counts[cell]).second);
                }
            }
            CHECK(cells == expected);
            CHECK(rows(counter.finish()).empty());
        }
    }
    ChunkCounter counter(1);
    CHECK_THROWS(counter.add_chunks("a", std::vector<std::int64_t>{1}, ChunkCounter::max_sources), std::out_of_range);
    CHECK_THROWS(counter.regroup({}), std::out_of_range);
}

CASE("counting: drained by bucket and joined again, in any number of parts") {
    const NextChunk next = find_pretokenizer("paper");
    check::Random random(5);
    for (int round = 0; round < 20; ++round) {
        const bool by_source = round % 2 == 0;
        const std::vector<Batch> batches{random_batch(random, 20), random_batch(random, 3), random_batch(random, 0)};
        ChunkCounter whole(2, by_source), part(3, by_source), joined(1, by_source);
        std::int64_t shift = 0;
        for (const Batch& batch : batches) {
            std::vector<std::uint32_t> sources;
            for (std::size_t i = 0; i < batch.documents.size(); ++i) {
                sources.push_back(static_cast<std::uint32_t>(random.below(5)));
            }
            whole.add_documents(next, batch.text, batch.documents, sources);
            part.add_documents(next, batch.text, batch.documents, sources);
            CHECK(part.memory() > 0);
            const std::int64_t bytes = part.position();
            const DrainedCounts drained = part.drain();
            CHECK_EQUAL(part.position(), 0);
            for (std::size_t bucket = 0; bucket < DrainedCounts::buckets; ++bucket) {
                const SourceCounts found = drained.bucket(bucket);
                const ChunkCountsView view{found.total.bytes, found.total.offsets, found.total.counts,
                                           found.total.first_positions};
                CHECK(!find_wrong_row(view));
                if (by_source) {
                    joined.add_source_counts({view, found.offsets, found.sources, found.counts}, shift);
                } else {
                    CHECK(found.offsets.empty());
                    joined.add_counts(view, shift);
                }
            }
            shift += bytes;
        }
        if (by_source) {
            const SourceCounts expected = whole.finish_by_source(), found = joined.finish_by_source();
            CHECK_EQUAL(rows(found.total), rows(expected.total));
            CHECK(found.offsets == expected.offsets && found.sources == expected.sources);
            CHECK(found.counts == expected.counts);
        } else {
            CHECK_EQUAL(rows(joined.finish()), rows(whole.finish()));
        }
    }
    CHECK_THROWS(ChunkCounter(1).drain().bucket(DrainedCounts::buckets), std::out_of_range);
    CHECK_THROWS(ChunkCounter(1, true).add_source_counts({}, 0), std::out_of_range);
}

CASE("counting: chunks cut by the caller") {
    ChunkCounter counter(2);
    const std::vector<std::int64_t> ends{2, 3, 5};
    counter.add_chunks("abcab", ends);
    counter.add_chunks("abcab", ends);
    counter.add_chunks("", {});
    CHECK_EQUAL(counter.position(), 10);
    CHECK_EQUAL(rows(counter.finish()), (std::vector<Row>{{"ab", 4, 0}, {"c", 2, 2}}));
}

CASE("counting: a document outside its batch is an error, not a crash") {
    ChunkCounter counter(2);
    const std::vector<DocumentSpan> documents{{90, 95}};
    CHECK_THROWS(counter.add_documents(find_pretokenizer("none"), "abc", documents), std::out_of_range);
}
