#include "counts/reduce_tables.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "counts/partitioned_entries.hpp"
#include "prunedbpe/interrupt.hpp"

namespace prunedbpe {
namespace {

/// About how many entries of all tables make one partition, so that joining them stays in the cache.
constexpr std::size_t partition_size = 1 << 13;
/// Radix partitioning writes to all partitions at once: more of them would miss the TLB.
constexpr std::size_t max_partitions = 1 << 10;

/// Joins equal chunks of one partition of all tables: the entry that was seen first takes the counts of the others,
/// whose counts become 0.
class PartitionJoin {
public:
    explicit PartitionJoin(std::vector<ChunkTable>& tables) : tables_(tables) {}

    /// Forgets the last partition; at most `entries` will be added.
    void restart(std::size_t entries) {
        slots_.assign(std::bit_ceil(entries * 3 / 2 + 1), {});
        mask_ = slots_.size() - 1;
    }

    void add(std::uint32_t table, std::span<const TaggedEntry> added) {
        constexpr std::size_t slot_distance = 16, entry_distance = 8;
        for (std::size_t i = 0; i < added.size(); ++i) {
            if (i + slot_distance < added.size()) __builtin_prefetch(&slots_[added[i + slot_distance].tag & mask_], 1);
            if (i + entry_distance < added.size()) prefetch_entry(added[i + entry_distance].tag);
            add(table, added[i]);
        }
    }

private:
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t table = 0;
        std::uint32_t entry = 0;  // index in the table + 1; 0 means empty
    };

    void prefetch_entry(std::uint32_t tag) const {
        const Slot& slot = slots_[tag & mask_];
        if (slot.entry != 0 && slot.tag == tag) __builtin_prefetch(&tables_[slot.table][slot.entry - 1], 1);
    }

    void add(std::uint32_t table, TaggedEntry added) {
        // All tags of a partition share their high bits; the low ones choose the slot.
        std::size_t at = added.tag & mask_;
        for (; slots_[at].entry != 0; at = (at + 1) & mask_) {
            if (slots_[at].tag != added.tag) continue;
            ChunkTable& other_table = tables_[slots_[at].table];
            const std::uint32_t other_index = slots_[at].entry - 1;
            ChunkTable::Entry &entry = tables_[table][added.index], &other = other_table[other_index];
            if (other.key() != entry.key()) continue;
            const std::int64_t total = entry.count + other.count;
            const bool is_first = tables_[table].first_position(added.index) < other_table.first_position(other_index);
            entry.count = is_first ? total : 0;
            other.count = is_first ? 0 : total;
            if (is_first) slots_[at] = {added.tag, table, added.index + 1};
            return;
        }
        slots_[at] = {added.tag, table, added.index + 1};
    }

    std::vector<ChunkTable>& tables_;
    std::vector<Slot> slots_;  // a power of two, at most two thirds full
    std::size_t mask_ = 0;
};

void join_equal_chunks(std::vector<ChunkTable>& tables, WorkerTeam& team) {
    std::size_t total = 0;
    for (const ChunkTable& table : tables) total += table.size();
    const std::size_t partitions = std::min(std::bit_ceil(total / partition_size + 1), max_partitions);
    std::vector<std::optional<PartitionedEntries>> entries(tables.size());
    team.run([&](unsigned table) { entries[table].emplace(tables[table], std::countr_zero(partitions)); });
    team.run([&](unsigned worker) {
        PartitionJoin join(tables);
        for (std::size_t partition = worker; partition < partitions; partition += team.size()) {
            std::size_t size = 0;
            for (const auto& table : entries) size += table->partition(partition).size();
            poll_interrupt();
            join.restart(size);
            for (std::uint32_t table = 0; table < tables.size(); ++table) {
                join.add(table, entries[table]->partition(partition));
            }
        }
    });
}

/// The entries of one table by first position, which nearly always is their order already.
class OrderedEntries {
public:
    explicit OrderedEntries(const ChunkTable& table) : table_(table) {
        if (table.is_ordered()) return;
        order_.resize(table.size());
        std::iota(order_.begin(), order_.end(), 0u);
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return table.first_position(a) < table.first_position(b);
        });
    }

    std::size_t size() const { return table_.size(); }
    const ChunkTable::Entry& entry(std::size_t i) const { return table_[index_of(i)]; }
    std::int64_t position(std::size_t i) const { return table_.first_position(index_of(i)); }

    /// The first entry at or after `position`.
    std::size_t first_from(std::int64_t position) const {
        std::size_t low = 0, high = size();
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (this->position(middle) < position) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

private:
    std::size_t index_of(std::size_t i) const { return order_.empty() ? i : order_[i]; }

    const ChunkTable& table_;
    std::vector<std::uint32_t> order_;  // indices into the table; empty if it is in order
};

/// The position before which the first `part` of `parts` equal shares of all entries lie.
std::int64_t find_bound(const std::vector<OrderedEntries>& tables, unsigned part, unsigned parts) {
    std::size_t total = 0;
    std::int64_t low = 0, high = 0;
    for (const OrderedEntries& table : tables) {
        total += table.size();
        if (table.size() > 0) high = std::max(high, table.position(table.size() - 1));
    }
    const std::size_t wanted = part_of(total, part, parts).begin;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        std::size_t before = 0;
        for (const OrderedEntries& table : tables) before += table.first_from(middle);
        if (before < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/// Visits the entries of all tables with positions in [begin, end) in order, a k-way merge. Positions are unique,
/// except for joined entries, whose count is 0; those are skipped.
template <class Visit>
void for_each_in_order(const std::vector<OrderedEntries>& tables, std::int64_t begin, std::int64_t end,
                       Visit&& visit) {
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    struct Cursor {
        std::int64_t position;   // of `next`; `none` at the end
        std::size_t next, last;  // entries left: [next, last)
    };
    std::vector<Cursor> cursors;
    for (const OrderedEntries& table : tables) {
        const std::size_t first = table.first_from(begin), last = table.first_from(end);
        cursors.push_back({first < last ? table.position(first) : none, first, last});
    }
    for (std::size_t visited = 1;; ++visited) {
        if (visited % poll_rows == 0) poll_interrupt();
        std::size_t best = 0;
        for (std::size_t t = 1; t < cursors.size(); ++t) {
            if (cursors[t].position < cursors[best].position) best = t;
        }
        Cursor& cursor = cursors[best];
        if (cursor.position == none) return;
        const ChunkTable::Entry& entry = tables[best].entry(cursor.next);
        if (entry.count != 0) visit(entry, cursor.position);
        ++cursor.next;
        cursor.position = cursor.next < cursor.last ? tables[best].position(cursor.next) : none;
    }
}

}  // namespace

ChunkCounts reduce_tables(std::vector<ChunkTable>& tables, WorkerTeam& team) {
    // 1. Join equal chunks of different tables.
    for (ChunkTable& table : tables) table.end_adding();
    if (tables.size() > 1) join_equal_chunks(tables, team);

    // 2. Divide the positions into ranges with about equally many entries, one for each worker.
    const std::vector<OrderedEntries> ordered(tables.begin(), tables.end());
    std::vector<std::int64_t> bounds(team.size() + 1, std::numeric_limits<std::int64_t>::max());
    bounds[0] = std::numeric_limits<std::int64_t>::min();
    for (unsigned worker = 1; worker < team.size(); ++worker) bounds[worker] = find_bound(ordered, worker, team.size());

    // 3. Measure the ranges; prefix sums tell where each begins in the result.
    struct Extent {
        std::size_t chunks = 0;
        std::size_t bytes = 0;
    };
    std::vector<Extent> begins(team.size() + 1);
    team.run([&](unsigned worker) {
        Extent size;
        for_each_in_order(ordered, bounds[worker], bounds[worker + 1],
                          [&](const ChunkTable::Entry& entry, std::int64_t) {
                              ++size.chunks;
                              size.bytes += entry.length;
                          });
        begins[worker + 1] = size;
    });
    for (unsigned worker = 0; worker < team.size(); ++worker) {
        begins[worker + 1].chunks += begins[worker].chunks;
        begins[worker + 1].bytes += begins[worker].bytes;
    }

    // 4. Write the ranges.
    ChunkCounts result;
    result.bytes.resize(begins.back().bytes);
    result.offsets.resize(begins.back().chunks + 1);
    result.offsets[0] = 0;
    result.counts.resize(begins.back().chunks);
    result.first_positions.resize(begins.back().chunks);
    team.run([&](unsigned worker) {
        Extent at = begins[worker];
        for_each_in_order(ordered, bounds[worker], bounds[worker + 1],
                          [&](const ChunkTable::Entry& entry, std::int64_t position) {
                              std::memcpy(result.bytes.data() + at.bytes, entry.key().data(), entry.length);
                              at.bytes += entry.length;
                              result.counts[at.chunks] = entry.count;
                              result.first_positions[at.chunks] = position;
                              result.offsets[++at.chunks] = static_cast<std::int64_t>(at.bytes);
                          });
    });
    for (ChunkTable& table : tables) table = ChunkTable();
    return result;
}

}  // namespace prunedbpe
