// Adds a stream of chunks to a table, a few at a time in flight.
#pragma once

#include <array>
#include <cstdint>

#include "counts/chunk_table.hpp"

namespace prunedbpe {

/// A rare chunk's slot and entry are far away in memory. Chunks wait here while theirs are fetched;
/// they are added in the order they came, the last ones by `flush`.
class ChunkPipeline {
public:
    explicit ChunkPipeline(ChunkTable& table) : table_(table) {}
    ChunkPipeline(const ChunkPipeline&) = delete;
    ChunkPipeline& operator=(const ChunkPipeline&) = delete;

    void add(const ChunkKey& key, std::int64_t count, std::int64_t position) {
        if (added_ - done_ == depth) finish_oldest();
        table_.prefetch_slot(key.tag);
        waiting_[added_++ % depth] = {key, count, position};
        if (added_ - done_ > depth / 2) table_.prefetch_entry(waiting_[(added_ - depth / 2) % depth].key.tag);
    }

    void flush() {
        while (done_ != added_) finish_oldest();
    }

private:
    static constexpr std::size_t depth = 16;

    struct Waiting {
        ChunkKey key;
        std::int64_t count;
        std::int64_t position;
    };

    void finish_oldest() {
        const Waiting& oldest = waiting_[done_++ % depth];
        table_.add(oldest.key, oldest.count, oldest.position);
    }

    ChunkTable& table_;
    std::array<Waiting, depth> waiting_;
    std::size_t added_ = 0;
    std::size_t done_ = 0;
};

}  // namespace prunedbpe
