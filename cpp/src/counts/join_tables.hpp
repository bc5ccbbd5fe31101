// Joining: rows of several tables -> one table in order of first appearance, with the cells of its sources.
#pragma once

#include <cstdint>
#include <vector>

#include "counts/chunk_table.hpp"
#include "counts/source_cells.hpp"
#include "prunedbpe/counts.hpp"

namespace prunedbpe {

/// Takes entries one by one; for as much of a corpus as one thread handles.
class TableJoin {
public:
    /// `by_source`: whether the counts are divided by source.
    explicit TableJoin(bool by_source) : by_source_(by_source) {}

    /// Adds an entry of a table. `cells` divides the counts of that table; not used if counts are not divided.
    void add(const ChunkTable& table, std::size_t entry, const SourceCells& cells);

    /// Returns the table and leaves the join without use.
    SourceCounts finish();

private:
    struct Cell {
        std::uint32_t entry;
        std::uint32_t source;
        std::int64_t count;
    };

    bool by_source_;
    ChunkTable table_;
    std::vector<Cell> cells_;
};

}  // namespace prunedbpe
