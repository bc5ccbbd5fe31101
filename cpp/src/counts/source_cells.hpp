// The counts of a table's entries, divided by source.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>

#include "util/block_vector.hpp"

namespace prunedbpe {

/// Every entry has a chain of cells, one for each source in which it occurs, the one used last in front: documents of a
/// source follow one another, so nearly every occurrence finds its cell there. 16 bytes for each cell, 4 for each entry.
class SourceCells {
public:
    /// Adds occurrences of an entry. Entries are numbered from 0, in the order in which they are added first.
    void add(std::size_t entry, std::uint32_t source, std::int64_t count) {
        if (entry == first_.size()) first_.push_back(none);
        if (const std::uint32_t first = first_[entry]; first != none && cells_[first].source == source) {
            cells_[first].count += count;
        } else {
            add_to_chain(entry, source, count);
        }
    }

    /// Visits the source and the count of every cell of an entry, in any order.
    template <class Visit>
    void for_each(std::size_t entry, Visit&& visit) const {
        for (std::uint32_t at = first_[entry]; at != none; at = cells_[at].next) {
            visit(cells_[at].source, cells_[at].count);
        }
    }

    /// The same cells with source i as `groups[i]`; cells that become equal are joined.
    SourceCells regrouped(std::span<const std::uint32_t> groups) const {
        SourceCells result;
        for (std::size_t entry = 0; entry < first_.size(); ++entry) {
            for_each(entry, [&](std::uint32_t source, std::int64_t count) { result.add(entry, groups[source], count); });
        }
        return result;
    }

    std::size_t memory() const { return first_.memory() + cells_.memory(); }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct Cell {
        std::int64_t count;
        std::uint32_t source;
        std::uint32_t next;  // in the chain; `none` at its end
    };

    void add_to_chain(std::size_t entry, std::uint32_t source, std::int64_t count) {
        for (std::uint32_t *link = &first_[entry]; *link != none; link = &cells_[*link].next) {
            const std::uint32_t found = *link;
            if (cells_[found].source != source) continue;
            cells_[found].count += count;
            *link = cells_[found].next;
            cells_[found].next = first_[entry];
            first_[entry] = found;
            return;
        }
        if (cells_.size() == none) throw std::length_error("more than four billion counts by source; use fewer sources");
        cells_.push_back({count, source, first_[entry]});
        first_[entry] = static_cast<std::uint32_t>(cells_.size() - 1);
    }

    BlockVector<std::uint32_t> first_;  // by entry: the front of its chain
    BlockVector<Cell> cells_;
};

}  // namespace prunedbpe
