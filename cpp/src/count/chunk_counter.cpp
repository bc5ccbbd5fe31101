#include <algorithm>
#include <numeric>

#include "count/chunk_table.hpp"
#include "prunedbpe/count.hpp"
#include "util/worker_team.hpp"

namespace prunedbpe {

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
        ChunkTable& table = workers_->tables[worker];
        const std::size_t last = worker + 1 == workers ? documents.size() : first_document_of(part.end);
        for (std::size_t i = first_document_of(part.begin); i < last; ++i) {
            const std::string_view document = text.substr(
                static_cast<std::size_t>(documents[i].begin),
                static_cast<std::size_t>(documents[i].end - documents[i].begin));
            for_each_chunk(next, document, [&](std::string_view chunk) {
                table.add(chunk, 1, starts[i] + (chunk.data() - document.data()));
            });
        }
    });
    position_ = starts.back();
}

void ChunkCounter::add_chunks(std::string_view text, std::span<const std::int64_t> ends) {
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) {
        workers_->tables[0].add(
            text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)), 1,
            position_ + begin);
        begin = end;
    }
    position_ += begin;
}

void ChunkCounter::add_counts(const ChunkCountsView& part, std::int64_t shift) {
    for (std::size_t i = 0; i < part.size(); ++i) {
        workers_->tables[0].add(part.chunk(i), part.counts[i], part.first_positions[i] + shift);
    }
}

ChunkCounts ChunkCounter::finish() {
    // 1. Reduce into the first table; a worker's table is freed as soon as it is added.
    ChunkTable& table = workers_->tables[0];
    for (std::size_t worker = 1; worker < workers_->tables.size(); ++worker) {
        const ChunkTable other = std::move(workers_->tables[worker]);
        workers_->tables[worker] = ChunkTable();
        for (const ChunkTable::Entry& entry : other.entries()) {
            table.add(other.key(entry), entry.count, entry.first_position);
        }
    }
    // 2. Order of first appearance. Positions are unique: no two chunks start at one place.
    const auto& entries = table.entries();
    std::vector<std::uint32_t> order(entries.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return entries[a].first_position < entries[b].first_position;
    });
    // 3. Flat arrays.
    ChunkCounts result;
    result.offsets.reserve(order.size() + 1);
    result.counts.reserve(order.size());
    result.first_positions.reserve(order.size());
    std::size_t total = 0;
    for (const ChunkTable::Entry& entry : entries) total += entry.key_length;
    result.bytes.reserve(total);
    result.offsets.push_back(0);
    for (const std::uint32_t i : order) {
        const std::string_view key = table.key(entries[i]);
        result.bytes.insert(result.bytes.end(), key.begin(), key.end());
        result.offsets.push_back(static_cast<std::int64_t>(result.bytes.size()));
        result.counts.push_back(entries[i].count);
        result.first_positions.push_back(entries[i].first_position);
    }
    table = ChunkTable();
    position_ = 0;
    return result;
}

}  // namespace prunedbpe
