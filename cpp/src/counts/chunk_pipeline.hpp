// Adds a stream of chunks to a table, with prefetching.
#pragma once

#include <array>
#include <cstdint>

#include "counts/chunk_table.hpp"
#include "counts/source_cells.hpp"

namespace prunedbpe {

/// The slot and entry of a rare chunk are cache misses. Chunks wait in a ring buffer while theirs are fetched, and are
/// added in the order they came. The owner must call `flush` at the end.
class ChunkPipeline {
public:
    /// `cells` divides the counts of the table by source; nullptr if they are not divided.
    ChunkPipeline(ChunkTable& table, SourceCells* cells) : table_(table), cells_(cells) {}
    ChunkPipeline(const ChunkPipeline&) = delete;
    ChunkPipeline& operator=(const ChunkPipeline&) = delete;

    void add(const ChunkKey& key, std::int64_t count, std::int64_t position, std::uint32_t source) {
        if (added_ - done_ == depth) add_oldest();
        table_.prefetch_slot(key.tag);
        waiting_[added_++ % depth] = {key, count, position, source};
        if (added_ - done_ > depth / 2) table_.prefetch_entry(waiting_[(added_ - depth / 2) % depth].key.tag);
    }

    void flush() {
        while (done_ != added_) add_oldest();
    }

private:
    static constexpr std::size_t depth = 16;

    struct Waiting {
        ChunkKey key;
        std::int64_t count;
        std::int64_t position;
        std::uint32_t source;
    };

    void add_oldest() {
        const Waiting& oldest = waiting_[done_++ % depth];
        const std::size_t entry = table_.add(oldest.key, oldest.count, oldest.position);
        if (cells_ != nullptr) cells_->add(entry, oldest.source, oldest.count);
    }

    ChunkTable& table_;
    SourceCells* cells_;
    std::array<Waiting, depth> waiting_;
    std::size_t added_ = 0;  // to the ring, in all
    std::size_t done_ = 0;   // added to the table, in all
};

}  // namespace prunedbpe
