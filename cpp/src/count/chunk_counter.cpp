#include <algorithm>

#include "count/chunk_pipeline.hpp"
#include "count/reduce_tables.hpp"
#include "pretokenize/chunk_scanner.hpp"
#include "prunedbpe/count.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

std::optional<WrongRow> find_wrong_row(const ChunkCountsView& counts) {
    std::int64_t last_position = -1;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts.offsets[i] >= counts.offsets[i + 1]) return WrongRow{i, "chunk length"};
        if (counts.counts[i] < 1) return WrongRow{i, "count"};
        if (counts.first_positions[i] <= last_position) return WrongRow{i, "first_position"};
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
    explicit Workers(unsigned threads) : team(threads), tables(team.size()) {}
    WorkerTeam team;
    std::vector<ChunkTable> tables;  // one for each worker
};

ChunkCounter::ChunkCounter(unsigned threads) : workers_(std::make_unique<Workers>(threads)) {}
ChunkCounter::~ChunkCounter() = default;

void ChunkCounter::add_documents(NextChunk next, std::string_view text,
                                 std::span<const DocumentSpan> documents) {
    // starts[i]: corpus position of document i; workers take runs of documents of equal bytes.
    std::vector<std::int64_t> starts(documents.size() + 1);
    starts[0] = position_;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        starts[i + 1] = starts[i] + documents[i].end - documents[i].begin;
    }
    const auto batch_bytes = static_cast<std::size_t>(starts.back() - position_);
    const unsigned workers = workers_->team.size();
    const auto first_document_of = [&](std::size_t byte) {
        return static_cast<std::size_t>(
            std::lower_bound(starts.begin(), starts.end() - 1, position_ + static_cast<std::int64_t>(byte)) -
            starts.begin());
    };
    workers_->team.run([&](unsigned worker) {
        const Part part = part_of(batch_bytes, worker, workers);
        ChunkPipeline pipeline(workers_->tables[worker]);
        const std::size_t last = worker + 1 == workers ? documents.size() : first_document_of(part.end);
        with_scanner(next, [&]<NextChunk next_chunk>() {
            for (std::size_t i = first_document_of(part.begin); i < last; ++i) {
                const std::string_view document = text.substr(
                    static_cast<std::size_t>(documents[i].begin),
                    static_cast<std::size_t>(documents[i].end - documents[i].begin));
                const char* const begin = document.data();
                const char* const end = begin + document.size();
                ChunkScanner<next_chunk> scanner(end);
                for (const char* at = begin; at < end;) {
                    scanner.next(at).for_each_end([&](const char* stop) {
                        const std::string_view chunk(at, static_cast<std::size_t>(stop - at));
                        pipeline.add(make_chunk_key(chunk, text.data() + text.size()), 1, starts[i] + (at - begin));
                        at = stop;
                    });
                }
            }
        });
        pipeline.flush();
    });
    position_ = starts.back();
}

void ChunkCounter::add_chunks(std::string_view text, std::span<const std::int64_t> ends) {
    ChunkPipeline pipeline(workers_->tables[0]);
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) {
        const std::string_view chunk =
            text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
        pipeline.add(make_chunk_key(chunk, text.data() + text.size()), 1, position_ + begin);
        begin = end;
    }
    pipeline.flush();
    position_ += begin;
}

void ChunkCounter::add_counts(const ChunkCountsView& part, std::int64_t shift) {
    ChunkPipeline pipeline(workers_->tables[0]);
    const char* const end = reinterpret_cast<const char*>(part.bytes.data()) + part.bytes.size();
    for (std::size_t i = 0; i < part.size(); ++i) {
        pipeline.add(make_chunk_key(part.chunk(i), end), part.counts[i], part.first_positions[i] + shift);
    }
    pipeline.flush();
}

ChunkCounts ChunkCounter::finish() {
    position_ = 0;
    return reduce_tables(workers_->tables, workers_->team);
}

}  // namespace prunedbpe
