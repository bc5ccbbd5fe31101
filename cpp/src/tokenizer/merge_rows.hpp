// Which merge two neighbours take part in, asked of the one that was made last.
//
// While a chunk is merged by rank, a new token has the highest rank so far: its neighbours' are not higher. So a merge
// has to be found from its part of higher rank only, and all merges of a token with others of no higher rank are its
// row. Most tokens have an empty one, and the largest of a vocabulary of 32,768 has a few dozen merges, so each row is
// a table of its own without collisions, and a question is one load and no loop. Ranks are kept in 16 bits: vocabularies
// of 65,279 merges and more, and those with a row too large for a table, are not `complete`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prunedbpe/types.hpp"

namespace prunedbpe {

class MergeRows {
public:
    static constexpr std::uint32_t none = 0xFFFF;

    explicit MergeRows(std::span<const Merge> merges);

    /// Whether all merges are here. If not, nothing may be asked.
    bool are_complete() const { return are_complete_; }

    /// The merge of two bytes as they lie in memory, or `none`.
    std::uint32_t find_bytes(const unsigned char* two) const { return of_bytes_[two[0] | two[1] << 8]; }

    struct Row {
        std::uint32_t base;    // of its slots
        std::uint32_t factor;  // spreads partners over the slots by its product; its lowest five bits are the shift
    };
    Row row(std::uint32_t rank) const { return rows_[rank]; }

    /// The row of a token that may be made soon; `none` may be asked for, too.
    void fetch(std::uint32_t rank) const {
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(rows_.data()) + rank * sizeof(Row)));
    }

    /// The merge of the row's token with one before it, or with one behind it, of no higher rank; or `none`. What
    /// stands beside the ends of a chunk is `none`, too.
    std::uint32_t find_before(Row row, std::uint32_t partner) const { return find(row, partner, 0); }
    std::uint32_t find_behind(Row row, std::uint32_t partner) const { return find(row, partner, 1); }

private:
    static std::uint32_t place(std::uint32_t factor, std::uint32_t partner, std::uint32_t side) {
        return (partner * factor >> (factor & 31)) * 2 + side;
    }

    std::uint32_t find(Row row, std::uint32_t partner, std::uint32_t side) const {
        const std::uint32_t slot = slots_[row.base + place(row.factor, partner, side)];
        // All ones if it is another partner's. Not a choice, which compilers like to make a branch that is guessed wrong.
        const auto is_other = static_cast<std::uint32_t>((slot & 0xFFFF) == partner) - 1;
        return (slot >> 16 | is_other) & none;
    }

    struct Member {
        std::uint32_t partner;
        std::uint32_t side;
        std::uint32_t rank;
    };
    bool add_row(std::uint32_t token, std::span<const Member> members, std::vector<std::uint32_t>& taken);

    bool are_complete_ = false;
    std::vector<std::uint16_t> of_bytes_;  // by the first byte and 256 times the second
    std::vector<Row> rows_;                // by rank
    std::vector<std::uint32_t> slots_;     // partner, and in the upper half the rank they merge into
};

}  // namespace prunedbpe
