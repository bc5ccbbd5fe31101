#include <algorithm>
#include <atomic>
#include <deque>
#include <stdexcept>
#include <utility>

#include "counts/chunk_pipeline.hpp"
#include "counts/join_sources.hpp"
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
    explicit Workers(unsigned threads) : team(threads) { tables_of(0); }

    /// The tables of a source, by worker.
    std::vector<ChunkTable>& tables_of(std::uint32_t source) {
        if (source >= max_sources) throw std::out_of_range("a source beyond the largest number");
        while (tables.size() <= source) tables.emplace_back(team.size());
        return tables[source];
    }

    WorkerTeam team;
    std::vector<std::vector<ChunkTable>> tables;  // by source, then by worker
};

ChunkCounter::ChunkCounter(unsigned threads) : workers_(std::make_unique<Workers>(threads)) {}
ChunkCounter::~ChunkCounter() = default;

void ChunkCounter::add_documents(NextChunk next, std::string_view text,
                                 std::span<const DocumentSpan> documents, std::span<const std::uint32_t> sources) {
    if (!sources.empty()) {
        if (sources.size() != documents.size()) throw std::out_of_range("as many sources as documents are needed");
        workers_->tables_of(*std::max_element(sources.begin(), sources.end()));
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
        std::deque<ChunkPipeline> pipelines;  // by source
        for (auto& tables : workers_->tables) pipelines.emplace_back(tables[worker]);
        std::int64_t polled = 0;  // the position at which poll_interrupt() was called last
        with_scanner(next, [&]<NextChunk next_chunk>() {
            // Each worker takes rising pieces, so its table stays in order of first position.
            for (std::size_t piece; (piece = next_piece.fetch_add(1)) < pieces.size();) {
                std::int64_t position = pieces[piece].position;
                for (const DocumentSpan& document : pieces[piece].documents) {
                    ChunkPipeline& pipeline = pipelines[sources.empty() ? 0 : sources[&document - first_document]];
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
                            pipeline.add(make_chunk_key(chunk, text.data() + text.size()), 1, position + (at - begin));
                            at = stop;
                        });
                    }
                    position += document.end - document.begin;
                }
            }
        });
        for (ChunkPipeline& pipeline : pipelines) pipeline.flush();
    });
}

void ChunkCounter::add_chunks(std::string_view text, std::span<const std::int64_t> ends, std::uint32_t source) {
    ChunkPipeline pipeline(workers_->tables_of(source)[0]);
    std::int64_t begin = 0;
    for (std::size_t i = 0; const std::int64_t end : ends) {
        if (++i % poll_rows == 0) poll_interrupt();
        const std::string_view chunk =
            text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        pipeline.add(make_chunk_key(chunk, text.data() + text.size()), 1, position_ + begin);
        begin = end;
    }
    pipeline.flush();
    position_ += begin;
}

void ChunkCounter::add_counts(const ChunkCountsView& part, std::int64_t shift, std::uint32_t source) {
    ChunkPipeline pipeline(workers_->tables_of(source)[0]);
    const char* const end = reinterpret_cast<const char*>(part.bytes.data()) + part.bytes.size();
    for (std::size_t i = 0; i < part.size(); ++i) {
        if (i % poll_rows == 0) poll_interrupt();
        pipeline.add(make_chunk_key(part.chunk(i), end), part.counts[i], part.first_positions[i] + shift);
    }
    pipeline.flush();
}

void ChunkCounter::regroup(std::span<const std::uint32_t> groups) {
    if (groups.size() < workers_->tables.size()) throw std::out_of_range("a source without a group");
    auto tables = std::exchange(workers_->tables, {});
    for (std::size_t source = 0; source < tables.size(); ++source) workers_->tables_of(groups[source]);
    workers_->team.run([&](unsigned worker) {
        for (std::size_t source = 0; source < tables.size(); ++source) {
            ChunkTable& from = tables[source][worker];
            ChunkTable& into = workers_->tables[groups[source]][worker];
            if (into.size() == 0) {
                into = std::move(from);
            } else {
                ChunkPipeline pipeline(into);
                for (std::size_t i = 0; i < from.size(); ++i) {
                    if (i % poll_rows == 0) poll_interrupt();
                    const std::string_view chunk = from[i].key();
                    const char* const readable_end = chunk.data() + std::max(chunk.size(), short_chunk);
                    pipeline.add(make_chunk_key(chunk, readable_end), from[i].count, from.first_position(i));
                }
                pipeline.flush();
            }
            from = ChunkTable();
        }
    });
}

ChunkCounts ChunkCounter::finish() {
    position_ = 0;
    if (workers_->tables.size() > 1) regroup(std::vector<std::uint32_t>(workers_->tables.size()));
    return reduce_tables(workers_->tables[0], workers_->team);
}

SourceCounts ChunkCounter::finish_by_source() {
    position_ = 0;
    std::vector<ChunkCounts> parts;
    for (auto& tables : workers_->tables) parts.push_back(reduce_tables(tables, workers_->team));
    workers_->tables.resize(1);
    return join_sources(parts);
}

}  // namespace prunedbpe
