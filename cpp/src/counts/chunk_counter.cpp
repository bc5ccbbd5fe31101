#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <stdexcept>
#include <utility>

#include "counts/chunk_pipeline.hpp"
#include "counts/join_tables.hpp"
#include "counts/partitioned_entries.hpp"
#include "counts/reduce_tables.hpp"
#include "pretokenizers/chunk_scanner.hpp"
#include "prunedbpe/counts.hpp"
#include "prunedbpe/interrupt.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {
namespace {

/// Workers take pieces of about this much text, because text and cores differ in speed. Only of the first batch, when
/// most chunks are new, each takes one contiguous part: neighbouring text repeats itself, so the tables stay smaller.
constexpr std::size_t piece_bytes = 1 << 19;

}  // namespace

std::optional<WrongRow> find_wrong_row(const ChunkCountsView& counts) {
    std::int64_t last_position = -1;
    std::int64_t bytes, total = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::int64_t length = counts.offsets[i + 1] - counts.offsets[i];
        if (length < 1) return WrongRow{i, "the chunk is empty"};
        if (counts.counts[i] < 1) return WrongRow{i, "the count is below 1"};
        if (counts.first_positions[i] <= last_position) return WrongRow{i, "first_position does not rise"};
        if (__builtin_mul_overflow(length, counts.counts[i], &bytes) || __builtin_add_overflow(total, bytes, &total)) {
            return WrongRow{i, "up to here, the chunks occur so often that the corpus has 2^63 bytes or more"};
        }
        last_position = counts.first_positions[i];
    }
    return std::nullopt;
}

std::vector<std::int64_t> count_bytes(const ChunkCountsView& counts) {
    std::vector<std::int64_t> totals(byte_count);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        for (const char byte : counts.chunk(i)) totals[static_cast<unsigned char>(byte)] += counts.counts[i];
    }
    return totals;
}

struct ChunkCounter::Workers {
    Workers(unsigned threads, bool is_divided)
        : team(threads), by_source(is_divided), tables(team.size()), cells(team.size()) {}

    ChunkPipeline pipeline(unsigned worker) { return {tables[worker], by_source ? &cells[worker] : nullptr}; }

    void check_source(std::uint32_t source) {
        if (source >= max_sources) throw std::out_of_range("a source beyond the largest number");
        source_count = std::max(source_count, source + 1);
    }

    /// The tables and their cells; leaves empty ones behind.
    auto take() {
        return std::pair(std::exchange(tables, std::vector<ChunkTable>(team.size())),
                         std::exchange(cells, std::vector<SourceCells>(team.size())));
    }

    WorkerTeam team;
    bool by_source;
    std::uint32_t source_count = 1;  // one more than the largest source so far
    std::vector<ChunkTable> tables;  // by worker
    std::vector<SourceCells> cells;  // by worker; empty unless by source
};

ChunkCounter::ChunkCounter(unsigned threads, bool by_source)
    : workers_(std::make_unique<Workers>(threads, by_source)) {}
ChunkCounter::~ChunkCounter() = default;

std::size_t ChunkCounter::memory() const {
    std::size_t bytes = 0;
    for (const ChunkTable& table : workers_->tables) bytes += table.memory();
    for (const SourceCells& cells : workers_->cells) bytes += cells.memory();
    return bytes;
}

void ChunkCounter::add_documents(NextChunk next, std::string_view text,
                                 std::span<const DocumentSpan> documents, std::span<const std::uint32_t> sources) {
    if (!sources.empty()) {
        if (sources.size() != documents.size()) throw std::out_of_range("as many sources as documents are needed");
        workers_->check_source(*std::max_element(sources.begin(), sources.end()));
    }
    const DocumentSpan* const first_document = documents.data();
    struct Piece {
        std::span<const DocumentSpan> documents;  // that begin in one part of the text
        std::int64_t position;                    // of the first one in the corpus
    };
    std::vector<Piece> pieces;
    const auto text_end = static_cast<std::int64_t>(text.size());
    const unsigned workers = workers_->team.size();
    const std::size_t many = position_ == 0 || workers == 1 ? 1 : text.size() / piece_bytes;
    const auto count = static_cast<unsigned>(std::max<std::size_t>(many, workers));
    for (unsigned piece = 0; piece < count; ++piece) {
        const auto part_end = static_cast<std::int64_t>(part_of(text.size(), piece, count).end);
        const auto last = piece + 1 == count
                              ? documents.end()
                              : std::lower_bound(documents.begin(), documents.end(), part_end,
                                                 [](const DocumentSpan& d, std::int64_t at) { return d.begin < at; });
        pieces.push_back({{documents.begin(), last}, position_});
        for (const DocumentSpan& document : pieces.back().documents) {
            if (document.begin < 0 || document.begin > document.end || document.end > text_end) {
                throw std::out_of_range("a document reaches beyond the text");
            }
            position_ += document.end - document.begin;
        }
        documents = {last, documents.end()};
    }
    std::atomic<std::size_t> next_piece{0};
    workers_->team.run([&](unsigned worker) {
        ChunkPipeline pipeline = workers_->pipeline(worker);
        std::int64_t polled = 0;  // the position at which poll_interrupt() was called last
        with_scanner(next, [&]<NextChunk next_chunk>() {
            // Each worker takes rising pieces, so its table stays in order of first position.
            for (std::size_t piece; (piece = next_piece.fetch_add(1)) < pieces.size();) {
                std::int64_t position = pieces[piece].position;
                for (const DocumentSpan& document : pieces[piece].documents) {
                    const std::uint32_t source = sources.empty() ? 0 : sources[&document - first_document];
                    const char* const begin = text.data() + document.begin;
                    const char* const end = text.data() + document.end;
                    ChunkScanner<next_chunk> scanner(end);
                    for (const char* at = begin; at < end;) {
                        if (position + (at - begin) - polled >= std::int64_t{poll_bytes}) [[unlikely]] {
                            polled = position + (at - begin);
                            poll_interrupt();
                        }
                        scanner.next(at).for_each_end([&](const char* stop) {
                            const std::string_view chunk(at, static_cast<std::size_t>(stop - at));
                            pipeline.add(make_chunk_key(chunk, text.data() + text.size()), 1, position + (at - begin),
                                         source);
                            at = stop;
                        });
                    }
                    position += document.end - document.begin;
                }
            }
        });
        pipeline.flush();
    });
}

void ChunkCounter::add_chunks(std::string_view text, std::span<const std::int64_t> ends, std::uint32_t source) {
    workers_->check_source(source);
    ChunkPipeline pipeline = workers_->pipeline(0);
    std::int64_t begin = 0;
    for (std::size_t i = 0; const std::int64_t end : ends) {
        if (++i % poll_rows == 0) poll_interrupt();
        const std::string_view chunk =
            text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        pipeline.add(make_chunk_key(chunk, text.data() + text.size()), 1, position_ + begin, source);
        begin = end;
    }
    pipeline.flush();
    position_ += begin;
}

void ChunkCounter::add_counts(const ChunkCountsView& part, std::int64_t shift, std::uint32_t source) {
    workers_->check_source(source);
    ChunkPipeline pipeline = workers_->pipeline(0);
    const char* const end = reinterpret_cast<const char*>(part.bytes.data()) + part.bytes.size();
    for (std::size_t i = 0; i < part.size(); ++i) {
        if (i % poll_rows == 0) poll_interrupt();
        pipeline.add(make_chunk_key(part.chunk(i), end), part.counts[i], part.first_positions[i] + shift, source);
    }
    pipeline.flush();
}

void ChunkCounter::add_source_counts(const SourceCountsView& part, std::int64_t shift) {
    if (part.offsets.size() != part.total.size() + 1 || part.sources.size() != part.counts.size() ||
        part.offsets.back() != static_cast<std::int64_t>(part.counts.size())) {
        throw std::out_of_range("counts by source that do not match their chunks");
    }
    const char* const end = reinterpret_cast<const char*>(part.total.bytes.data()) + part.total.bytes.size();
    for (std::size_t i = 0; i < part.total.size(); ++i) {
        if (i % poll_rows == 0) poll_interrupt();
        const std::size_t entry = workers_->tables[0].add(make_chunk_key(part.total.chunk(i), end), part.total.counts[i],
                                                          part.total.first_positions[i] + shift);
        for (auto cell = static_cast<std::size_t>(part.offsets[i]); cell < static_cast<std::size_t>(part.offsets[i + 1]);
             ++cell) {
            workers_->check_source(part.sources[cell]);
            workers_->cells[0].add(entry, part.sources[cell], part.counts[cell]);
        }
    }
}

void ChunkCounter::regroup(std::span<const std::uint32_t> groups) {
    if (groups.size() < workers_->source_count) throw std::out_of_range("a source without a group");
    workers_->source_count = 1;
    for (const std::uint32_t group : groups) workers_->check_source(group);
    workers_->team.run(
        [&](unsigned worker) { workers_->cells[worker] = workers_->cells[worker].regrouped(groups); });
}

ChunkCounts ChunkCounter::finish() {
    position_ = 0;
    auto [tables, cells] = workers_->take();
    return reduce_tables(tables, workers_->team);
}

SourceCounts ChunkCounter::finish_by_source() {
    position_ = 0;
    const auto [tables, cells] = workers_->take();
    TableJoin join(true);
    for (std::size_t worker = 0; worker < tables.size(); ++worker) {
        for (std::size_t i = 0; i < tables[worker].size(); ++i) {
            if (i % poll_rows == 0) poll_interrupt();
            join.add(tables[worker], i, cells[worker]);
        }
    }
    return join.finish();
}

/// What `drain` took out, by worker.
struct DrainedCounts::Tables {
    bool by_source;
    std::vector<ChunkTable> tables;
    std::vector<SourceCells> cells;
    std::vector<std::optional<PartitionedEntries>> entries;
};

DrainedCounts ChunkCounter::drain() {
    position_ = 0;
    auto [taken, cells] = workers_->take();
    std::vector<ChunkTable>& tables = taken;  // a lambda cannot capture a structured binding in Clang 14
    for (ChunkTable& table : tables) table.end_adding();
    std::vector<std::optional<PartitionedEntries>> entries(tables.size());
    workers_->team.run([&](unsigned worker) {
        entries[worker].emplace(tables[worker], std::countr_zero(DrainedCounts::buckets));
    });
    return DrainedCounts(std::unique_ptr<DrainedCounts::Tables>(
        new DrainedCounts::Tables{workers_->by_source, std::move(tables), std::move(cells), std::move(entries)}));
}

DrainedCounts::DrainedCounts(std::unique_ptr<Tables> tables) : tables_(std::move(tables)) {}
DrainedCounts::DrainedCounts(DrainedCounts&&) noexcept = default;
DrainedCounts::~DrainedCounts() = default;

SourceCounts DrainedCounts::bucket(std::size_t bucket) const {
    constexpr std::size_t distance = 16;  // entries of a bucket are far apart
    if (bucket >= buckets) throw std::out_of_range("a bucket beyond the last one");
    TableJoin join(tables_->by_source);
    for (std::size_t worker = 0; worker < tables_->tables.size(); ++worker) {
        const ChunkTable& table = tables_->tables[worker];
        const std::span<const TaggedEntry> entries = tables_->entries[worker]->partition(bucket);
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (i % poll_rows == 0) poll_interrupt();
            if (i + distance < entries.size()) __builtin_prefetch(&table[entries[i + distance].index]);
            join.add(table, entries[i].index, tables_->cells[worker]);
        }
    }
    return join.finish();
}

}  // namespace prunedbpe
