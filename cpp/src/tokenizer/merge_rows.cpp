#include "tokenizer/merge_rows.hpp"

#include <algorithm>
#include <bit>

namespace prunedbpe {
namespace {

constexpr std::uint32_t empty_slot = 0xFFFFFFFF;
constexpr unsigned most_bits = 12;  // log2 of a row's slots on each side

}  // namespace

MergeRows::MergeRows(std::span<const Merge> merges) {
    const std::size_t tokens = byte_count + merges.size();
    if (tokens >= none) return;

    // 1. Group the merges by row. If both parts are the same token, either may be made last.
    const auto for_each_member = [&](auto&& use) {
        for (std::uint32_t rank = byte_count; rank < tokens; ++rank) {
            const std::uint32_t left = raw(merges[rank - byte_count].left), right = raw(merges[rank - byte_count].right);
            if ((left | right) < byte_count) continue;
            if (left <= right) use(right, Member{left, 0, rank});
            if (right <= left) use(left, Member{right, 1, rank});
        }
    };
    std::vector<std::uint32_t> starts(tokens + 1);
    for_each_member([&](std::uint32_t token, const Member&) { ++starts[token + 1]; });
    for (std::size_t token = 0; token < tokens; ++token) starts[token + 1] += starts[token];
    std::vector<Member> members(starts.back());
    std::vector<std::uint32_t> fill(starts.begin(), starts.end() - 1);
    for_each_member([&](std::uint32_t token, const Member& member) { members[fill[token]++] = member; });

    // 2. Lay out the rows by rank, so that those of frequent tokens are close together. Tokens without a merge share an
    // empty row.
    slots_.assign(4, empty_slot);
    rows_.assign(tokens, {0, 31});
    std::vector<std::uint32_t> taken;
    for (std::uint32_t token = 0; token < tokens; ++token) {
        const std::span<const Member> row(members.data() + starts[token], starts[token + 1] - starts[token]);
        if (!row.empty() && !add_row(token, row, taken)) return;
    }

    // 3. Merges of two bytes have a table of their own: a chunk starts with them.
    of_bytes_.assign(byte_count * byte_count, none);
    for (std::uint32_t rank = byte_count; rank < tokens; ++rank) {
        const std::uint32_t left = raw(merges[rank - byte_count].left), right = raw(merges[rank - byte_count].right);
        if ((left | right) < byte_count) of_bytes_[left | right << 8] = static_cast<std::uint16_t>(rank);
    }
    are_complete_ = true;
}

/// Tries random factors until all members have different slots; doubles the slots after 32 failures.
bool MergeRows::add_row(std::uint32_t token, std::span<const Member> members, std::vector<std::uint32_t>& taken) {
    constexpr int tries = 32;
    std::uint64_t state = 0x9E3779B97F4A7C15 + token;
    // A random factor separates n members with probability exp(-n^2 / (4 * 2^bits)).
    const std::size_t wanted = members.size() * members.size() / 8;
    for (unsigned bits = std::max(1u, static_cast<unsigned>(std::bit_width(wanted))); bits <= most_bits; ++bits) {
        for (int i = 0; i < tries; ++i) {
            state = state * 0xD6E8FEB86659FD93 + 0x9E3779B97F4A7C15;
            const std::uint32_t factor = (static_cast<std::uint32_t>(state >> 32) & ~31u) | (32 - bits);
            taken.assign(std::size_t{2} << bits, empty_slot);
            const bool are_apart = std::all_of(members.begin(), members.end(), [&](const Member& member) {
                std::uint32_t& slot = taken[slot_of(factor, member.partner, member.side)];
                const bool is_free = slot == empty_slot;
                slot = member.rank << 16 | member.partner;
                return is_free;
            });
            if (!are_apart) continue;
            rows_[token] = {static_cast<std::uint32_t>(slots_.size()), factor};
            slots_.insert(slots_.end(), taken.begin(), taken.end());
            return true;
        }
    }
    return false;
}

}  // namespace prunedbpe
