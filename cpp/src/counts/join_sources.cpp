#include "counts/join_sources.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "counts/chunk_table.hpp"
#include "prunedbpe/interrupt.hpp"

namespace prunedbpe {
namespace {

/// Adds a part to the table; returns, by row of the part, the index of its entry there.
std::vector<std::uint32_t> add_part(ChunkTable& table, const ChunkCountsView& part) {
    constexpr std::size_t group = 32;  // chunks whose slots and entries are fetched together
    std::vector<std::uint32_t> entries(part.size());
    const char* const end = reinterpret_cast<const char*>(part.bytes.data()) + part.bytes.size();
    std::array<ChunkKey, group> keys;
    for (std::size_t first = 0; first < part.size(); first += group) {
        if (first % poll_rows == 0) poll_interrupt();
        const std::size_t last = std::min(first + group, part.size());
        for (std::size_t i = first; i < last; ++i) {
            keys[i - first] = make_chunk_key(part.chunk(i), end);
            table.prefetch_slot(keys[i - first].tag);
        }
        for (std::size_t i = first; i < last; ++i) table.prefetch_entry(keys[i - first].tag);
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t entry = table.add(keys[i - first], part.counts[i], part.first_positions[i]);
            entries[i] = static_cast<std::uint32_t>(entry);
        }
    }
    return entries;
}

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

SourceCounts join_sources(const std::vector<ChunkCounts>& parts) {
    // 1. One table of all chunks.
    ChunkTable table;
    std::vector<std::vector<std::uint32_t>> entries;  // by source and row of its part
    for (const ChunkCounts& part : parts) {
        entries.push_back(add_part(table, {part.bytes, part.offsets, part.counts, part.first_positions}));
    }
    table.end_adding();
    const std::vector<std::uint32_t> order = order_of(table);
    SourceCounts result;
    result.total = write_table(table, order);

    // 2. The cells of every chunk, source by source: a counting sort.
    std::vector<std::int64_t> next(table.size());  // by entry: first the number of its cells, then its next cell
    for (const auto& part : entries) {
        for (const std::uint32_t entry : part) ++next[entry];
    }
    result.offsets.resize(table.size() + 1);
    result.offsets[0] = 0;
    for (std::size_t row = 0; row < order.size(); ++row) {
        const std::int64_t begin = result.offsets[row];
        result.offsets[row + 1] = begin + std::exchange(next[order[row]], begin);
    }
    result.sources.resize(static_cast<std::size_t>(result.offsets.back()));
    result.counts.resize(result.sources.size());
    for (std::size_t source = 0; source < parts.size(); ++source) {
        for (std::size_t i = 0; i < entries[source].size(); ++i) {
            const auto cell = static_cast<std::size_t>(next[entries[source][i]]++);
            result.sources[cell] = static_cast<std::uint32_t>(source);
            result.counts[cell] = parts[source].counts[i];
        }
    }
    return result;
}

}  // namespace prunedbpe
