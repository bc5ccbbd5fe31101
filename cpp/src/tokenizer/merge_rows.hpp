// The merge of two neighbours, looked up from the one that was made last.
//
// While a chunk is merged by rank, a new token has the highest rank so far. So a lookup always starts from the part of
// higher rank, and a token's row holds its merges with partners of no higher rank. Most rows are empty, and the largest
// of a vocabulary of 32,768 has a few dozen merges. So each row is a perfect hash table, and a lookup is one load.
// Ranks take 16 bits: vocabularies with 65,279 merges or more, or with a row too large for a table, are not complete.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prunedbpe/types.hpp"

namespace prunedbpe {

class MergeRows {
public:
    static constexpr std::uint32_t none = 0xFFFF;  ///< no merge

    explicit MergeRows(std::span<const Merge> merges);

    /// Are all merges here? If not, no lookup is valid.
    bool are_complete() const { return are_complete_; }

    /// The merge of two bytes as they lie in memory, or `none`.
    std::uint32_t find_bytes(const unsigned char* two) const { return of_bytes_[std::size_t{two[1]} << 8 | two[0]]; }

    struct Row {
        std::uint32_t base;    ///< first slot
        std::uint32_t factor;  ///< a partner times this, shifted right by its lowest five bits, is the slot
    };
    Row row(std::uint32_t rank) const { return rows_[rank]; }

    /// Prefetches the row of a token that may be made soon. Accepts `none`.
    void prefetch(std::uint32_t rank) const {
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(rows_.data()) + rank * sizeof(Row)));
    }

    /// The merge of the row's token with a left or right neighbour of no higher rank, or `none`. Accepts `none` as the
    /// neighbour, for the ends of a chunk.
    std::uint32_t find_left(Row row, std::uint32_t partner) const { return find(row, partner, 0); }
    std::uint32_t find_right(Row row, std::uint32_t partner) const { return find(row, partner, 1); }

private:
    static std::uint32_t slot_of(std::uint32_t factor, std::uint32_t partner, std::uint32_t side) {
        return (partner * factor >> (factor & 31)) * 2 + side;
    }

    std::uint32_t find(Row row, std::uint32_t partner, std::uint32_t side) const {
        const std::uint32_t slot = slots_[row.base + slot_of(row.factor, partner, side)];
        // All ones if the slot is another partner's. Arithmetic, because compilers turn ?: into a mispredicted branch.
        const auto is_other = static_cast<std::uint32_t>((slot & 0xFFFF) == partner) - 1;
        return (slot >> 16 | is_other) & none;
    }

    struct Member {
        std::uint32_t partner;
        std::uint32_t side;  ///< 0: the partner is on the left, 1: on the right
        std::uint32_t rank;  ///< of the merged token
    };
    bool add_row(std::uint32_t token, std::span<const Member> members, std::vector<std::uint32_t>& taken);

    bool are_complete_ = false;
    std::vector<std::uint16_t> of_bytes_;  ///< by the first byte + 256 * the second
    std::vector<Row> rows_;                ///< by rank
    std::vector<std::uint32_t> slots_;     ///< low half: partner; high half: rank of the merged token
};

}  // namespace prunedbpe
