// The entries of a table, divided by hash.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "counts/chunk_table.hpp"
#include "prunedbpe/huge_array.hpp"

namespace prunedbpe {

struct TaggedEntry {
    std::uint32_t tag;
    std::uint32_t index;  // in its table
};

/// The entries of a table, radix-partitioned by the highest bits of their tags.
class PartitionedEntries {
public:
    PartitionedEntries(const ChunkTable& table, int partition_bits)
        : entries_(table.size()), ends_((std::size_t{1} << partition_bits) + 1) {
        const auto partition_of = [&](std::uint32_t tag) { return std::uint64_t{tag} >> (32 - partition_bits); };
        for (std::size_t i = 0; i < table.size(); ++i) ++ends_[partition_of(table[i].tag) + 1];
        std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
        for (std::uint32_t i = 0; i < table.size(); ++i) {
            const std::uint32_t tag = table[i].tag;
            entries_[ends_[partition_of(tag)]++] = {tag, i};
        }
    }

    std::span<const TaggedEntry> partition(std::size_t i) const {
        const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
        return {entries_.data() + begin, ends_[i] - begin};
    }

private:
    HugeVector<TaggedEntry> entries_;
    std::vector<std::size_t> ends_;  // by partition: first its begin, then, once it is filled, its end
};

}  // namespace prunedbpe
