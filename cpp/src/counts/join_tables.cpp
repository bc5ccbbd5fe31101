#include "counts/join_tables.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace prunedbpe {
namespace {

/// The entries of a table in order of first position.
std::vector<std::uint32_t> order_of(const ChunkTable& table) {
    std::vector<std::uint32_t> order(table.size());
    std::iota(order.begin(), order.end(), 0u);
    if (!table.is_ordered()) {
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return table.first_position(a) < table.first_position(b);
        });
    }
    return order;
}

ChunkCounts write_table(const ChunkTable& table, const std::vector<std::uint32_t>& order) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < table.size(); ++i) bytes += table[i].length;
    ChunkCounts result;
    result.bytes.resize(bytes);
    result.offsets.resize(table.size() + 1);
    result.counts.resize(table.size());
    result.first_positions.resize(table.size());
    result.offsets[0] = 0;
    for (std::size_t row = 0; row < order.size(); ++row) {
        const ChunkTable::Entry& entry = table[order[row]];
        std::memcpy(result.bytes.data() + result.offsets[row], entry.key().data(), entry.length);
        result.offsets[row + 1] = result.offsets[row] + entry.length;
        result.counts[row] = entry.count;
        result.first_positions[row] = table.first_position(order[row]);
    }
    return result;
}

}  // namespace

void TableJoin::add(const ChunkTable& table, std::size_t entry, const SourceCells& cells) {
    const auto joined = static_cast<std::uint32_t>(
        table_.add(table[entry].chunk_key(), table[entry].count, table.first_position(entry)));
    if (!by_source_) return;
    cells.for_each(entry, [&](std::uint32_t source, std::int64_t count) { cells_.push_back({joined, source, count}); });
}

SourceCounts TableJoin::finish() {
    table_.end_adding();
    const std::vector<std::uint32_t> order = order_of(table_);
    SourceCounts result;
    result.total = write_table(table_, order);
    if (!by_source_) return result;

    // 1. The cells in order of their rows; within a row, of their sources.
    std::vector<std::uint32_t> row_of(order.size());  // by entry
    for (std::size_t row = 0; row < order.size(); ++row) row_of[order[row]] = static_cast<std::uint32_t>(row);
    std::sort(cells_.begin(), cells_.end(), [&](const Cell& a, const Cell& b) {
        return std::pair(row_of[a.entry], a.source) < std::pair(row_of[b.entry], b.source);
    });

    // 2. Cells of the same row and source become one.
    result.offsets.reserve(order.size() + 1);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        const bool is_new_row = i == 0 || cells_[i].entry != cells_[i - 1].entry;
        if (is_new_row) result.offsets.push_back(static_cast<std::int64_t>(result.sources.size()));
        if (is_new_row || cells_[i].source != cells_[i - 1].source) {
            result.sources.push_back(cells_[i].source);
            result.counts.push_back(cells_[i].count);
        } else {
            result.counts.back() += cells_[i].count;
        }
    }
    result.offsets.push_back(static_cast<std::int64_t>(result.sources.size()));
    return result;
}

}  // namespace prunedbpe
