#include "counts/reduce_tables.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

namespace prunedbpe {
namespace {

/// About how many entries, of all tables, make a share of the hashes: what brings them together stays in the cache.
constexpr std::size_t share_size = 1 << 13;
/// No more shares than a processor writes to at a time.
constexpr std::size_t most_shares = 1 << 10;

struct TaggedEntry {
    std::uint32_t tag;
    std::uint32_t place;  // in its table
};

/// The entries of a table by shares of the hashes.
class SharedEntries {
public:
    /// `share_bits` of a tag, the highest, tell its share.
    SharedEntries(const ChunkTable& table, int share_bits)
        : entries_(table.size()), ends_((std::size_t{1} << share_bits) + 1) {
        const auto share_of = [&](std::uint32_t tag) { return std::uint64_t{tag} >> (32 - share_bits); };
        for (std::size_t i = 0; i < table.size(); ++i) ++ends_[share_of(table[i].tag) + 1];
        std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
        for (std::uint32_t i = 0; i < table.size(); ++i) {
            const std::uint32_t tag = table[i].tag;
            entries_[ends_[share_of(tag)]++] = {tag, i};
        }
    }

    std::span<const TaggedEntry> share(std::size_t i) const {
        const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
        return {entries_.data() + begin, ends_[i] - begin};
    }

private:
    HugeVector<TaggedEntry> entries_;
    std::vector<std::size_t> ends_;  // of the shares
};

/// The entries of one share of all tables, found by their chunks. Equal ones are brought together: the entry that was
/// seen first takes the counts of the others, whose counts become 0.
class Union {
public:
    explicit Union(std::vector<ChunkTable>& tables) : tables_(tables) {}

    /// Forgets the last share; `most_entries` are to come.
    void restart(std::size_t most_entries) {
        slots_.assign(std::bit_ceil(most_entries * 3 / 2 + 1), {});
        mask_ = slots_.size() - 1;
    }

    void add(std::uint32_t table, std::span<const TaggedEntry> added) {
        constexpr std::size_t soon = 8, later = 16;  // the slot is fetched first, then the entry it tells of
        for (std::size_t i = 0; i < added.size(); ++i) {
            if (i + later < added.size()) __builtin_prefetch(&slots_[added[i + later].tag & mask_], 1);
            if (i + soon < added.size()) prefetch_entry(added[i + soon].tag);
            add(table, added[i]);
        }
    }

private:
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t table = 0;
        std::uint32_t entry = 0;  // + 1; 0 means empty
    };

    void prefetch_entry(std::uint32_t tag) const {
        const Slot& slot = slots_[tag & mask_];
        if (slot.entry != 0 && slot.tag == tag) __builtin_prefetch(&tables_[slot.table][slot.entry - 1], 1);
    }

    void add(std::uint32_t table, TaggedEntry added) {
        // The high bits of the tag are the share's; the low ones choose the slot.
        std::size_t at = added.tag & mask_;
        for (; slots_[at].entry != 0; at = (at + 1) & mask_) {
            if (slots_[at].tag != added.tag) continue;
            ChunkTable& other_table = tables_[slots_[at].table];
            const std::uint32_t other_place = slots_[at].entry - 1;
            ChunkTable::Entry &entry = tables_[table][added.place], &other = other_table[other_place];
            if (other.key() != entry.key()) continue;
            const std::int64_t total = entry.count + other.count;
            const bool earlier = tables_[table].first_position(added.place) < other_table.first_position(other_place);
            entry.count = earlier ? total : 0;
            other.count = earlier ? 0 : total;
            if (earlier) slots_[at] = {added.tag, table, added.place + 1};
            return;
        }
        slots_[at] = {added.tag, table, added.place + 1};
    }

    std::vector<ChunkTable>& tables_;
    std::vector<Slot> slots_;  // a power of two, at most two thirds full
    std::size_t mask_ = 0;
};

void unite_equals(std::vector<ChunkTable>& tables, WorkerTeam& team) {
    std::size_t total = 0;
    for (const ChunkTable& table : tables) total += table.size();
    const std::size_t share_count = std::min(std::bit_ceil(total / share_size + 1), most_shares);
    std::vector<std::optional<SharedEntries>> entries(tables.size());
    team.run([&](unsigned table) { entries[table].emplace(tables[table], std::countr_zero(share_count)); });
    team.run([&](unsigned worker) {
        Union united(tables);
        for (std::size_t share = worker; share < share_count; share += team.size()) {
            std::size_t most_entries = 0;
            for (const auto& table : entries) most_entries += table->share(share).size();
            united.restart(most_entries);
            for (std::uint32_t table = 0; table < tables.size(); ++table) united.add(table, entries[table]->share(share));
        }
    });
}

/// The entries of one table by first position. Nearly always they are so already.
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
    const ChunkTable::Entry& entry(std::size_t i) const { return table_[place(i)]; }
    std::int64_t position(std::size_t i) const { return table_.first_position(place(i)); }

    /// The first entry at or behind `position`.
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
    std::size_t place(std::size_t i) const { return order_.empty() ? i : order_[i]; }

    const ChunkTable& table_;
    std::vector<std::uint32_t> order_;
};

/// The position before which `part` of `parts` of all entries lie.
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

/// The entries of all tables whose positions lie in [begin, end), in order. No two have one position.
template <class Visit>
void for_each_in_order(const std::vector<OrderedEntries>& tables, std::int64_t begin, std::int64_t end,
                       Visit&& visit) {
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    struct Head {
        std::int64_t position;
        std::size_t next, last;
    };
    std::vector<Head> heads;
    for (const OrderedEntries& table : tables) {
        const std::size_t first = table.first_from(begin), last = table.first_from(end);
        heads.push_back({first < last ? table.position(first) : none, first, last});
    }
    while (true) {
        std::size_t best = 0;
        for (std::size_t t = 1; t < heads.size(); ++t) {
            if (heads[t].position < heads[best].position) best = t;
        }
        Head& head = heads[best];
        if (head.position == none) return;
        const ChunkTable::Entry& entry = tables[best].entry(head.next);
        if (entry.count != 0) visit(entry, head.position);
        ++head.next;
        head.position = head.next < head.last ? tables[best].position(head.next) : none;
    }
}

}  // namespace

ChunkCounts reduce_tables(std::vector<ChunkTable>& tables, WorkerTeam& team) {
    // 1. Equal chunks of different workers become one.
    for (ChunkTable& table : tables) table.end_look_ups();
    if (tables.size() > 1) unite_equals(tables, team);

    // 2. Workers take ranges of positions with about equally many entries.
    const std::vector<OrderedEntries> ordered(tables.begin(), tables.end());
    std::vector<std::int64_t> bounds(team.size() + 1, std::numeric_limits<std::int64_t>::max());
    bounds[0] = std::numeric_limits<std::int64_t>::min();
    for (unsigned worker = 1; worker < team.size(); ++worker) bounds[worker] = find_bound(ordered, worker, team.size());

    // 3. Sizes of the ranges, and where each begins.
    struct Place {
        std::size_t chunk = 0;
        std::size_t byte = 0;
    };
    std::vector<Place> places(team.size() + 1);
    team.run([&](unsigned worker) {
        Place size;
        for_each_in_order(ordered, bounds[worker], bounds[worker + 1],
                          [&](const ChunkTable::Entry& entry, std::int64_t) {
                              ++size.chunk;
                              size.byte += entry.length;
                          });
        places[worker + 1] = size;
    });
    for (unsigned worker = 0; worker < team.size(); ++worker) {
        places[worker + 1].chunk += places[worker].chunk;
        places[worker + 1].byte += places[worker].byte;
    }

    // 4. Write them.
    ChunkCounts result;
    result.bytes.resize(places.back().byte);
    result.offsets.resize(places.back().chunk + 1);
    result.offsets[0] = 0;
    result.counts.resize(places.back().chunk);
    result.first_positions.resize(places.back().chunk);
    team.run([&](unsigned worker) {
        Place at = places[worker];
        for_each_in_order(ordered, bounds[worker], bounds[worker + 1],
                          [&](const ChunkTable::Entry& entry, std::int64_t position) {
                              std::memcpy(result.bytes.data() + at.byte, entry.key().data(), entry.length);
                              at.byte += entry.length;
                              result.counts[at.chunk] = entry.count;
                              result.first_positions[at.chunk] = position;
                              result.offsets[++at.chunk] = static_cast<std::int64_t>(at.byte);
                          });
    });
    for (ChunkTable& table : tables) table = ChunkTable();
    return result;
}

}  // namespace prunedbpe
