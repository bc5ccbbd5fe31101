// Counting chunks with a plain map, and tables as rows that can be compared.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "prunedbpe/counts.hpp"
#include "prunedbpe/pretokenizers.hpp"

namespace plain {

struct Row {
    std::string chunk;
    std::int64_t count;
    std::int64_t first_position;
    bool operator==(const Row&) const = default;
};

inline std::vector<Row> rows(const prunedbpe::ChunkCounts& counts) {
    const prunedbpe::ChunkCountsView view{counts.bytes, counts.offsets, counts.counts, counts.first_positions};
    CHECK(!prunedbpe::find_wrong_row(view));
    std::vector<Row> found;
    for (std::size_t i = 0; i < view.size(); ++i) {
        found.push_back({std::string(view.chunk(i)), view.counts[i], view.first_positions[i]});
    }
    return found;
}

/// Counts batch after batch.
class Counter {
public:
    explicit Counter(prunedbpe::NextChunk next) : next_(next) {}

    void add(std::string_view text, std::span<const prunedbpe::DocumentSpan> documents) {
        for (const auto& [begin, end] : documents) {
            const auto document = text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
            prunedbpe::for_each_chunk(next_, document, [&](std::string_view chunk) {
                const auto [at, is_new] = indices_.try_emplace(std::string(chunk), rows_.size());
                if (is_new) rows_.push_back({std::string(chunk), 0, position_});
                ++rows_[at->second].count;
                position_ += static_cast<std::int64_t>(chunk.size());
            });
        }
    }

    const std::vector<Row>& rows() const { return rows_; }

private:
    prunedbpe::NextChunk next_;
    std::map<std::string, std::size_t> indices_;
    std::vector<Row> rows_;
    std::int64_t position_ = 0;
};

}  // namespace plain
