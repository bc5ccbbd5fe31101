#include "vocabulary/adjacency.hpp"

namespace prunedbpe {

std::vector<Signature> make_signatures(std::span<const Merge> merges) {
    std::vector<Signature> signatures(byte_count + merges.size());
    std::vector<unsigned char> first_byte(signatures.size());
    const auto merge_of = [&](std::size_t rank) { return merges[rank - byte_count]; };
    for (std::uint32_t rank = 0; rank < signatures.size(); ++rank) {
        first_byte[rank] = rank < byte_count ? static_cast<unsigned char>(rank) : first_byte[raw(merge_of(rank).left)];
    }
    const auto end_bit = [](std::uint32_t rank) { return 1u << (hash_key(rank) >> 59); };
    const auto start_bit = [&](std::uint32_t rank) {
        // Tokens that start inside a character share a bit that tokens starting with a character never get.
        const bool is_inside = (first_byte[rank] & 0xC0) == 0x80;
        return 1u << (is_inside ? 31 : (hash_key(rank) >> 32) % 31);
    };
    // In rank order: what a part has joined so far came before the token that is being made.
    std::vector<std::uint32_t> joined_right(signatures.size()), joined_left(signatures.size());
    for (std::uint32_t rank = 0; rank < signatures.size(); ++rank) {
        Signature& made = signatures[rank];
        made.ends = end_bit(rank);
        made.starts = start_bit(rank);
        if (rank < byte_count) continue;
        const std::uint32_t left = raw(merge_of(rank).left), right = raw(merge_of(rank).right);
        made.ends |= signatures[right].ends;
        made.starts |= signatures[left].starts;
        // Of equal merges the leftmost is first, so at the start the crossing merge itself counts.
        joined_left[right] |= end_bit(left);
        made.follows = signatures[right].follows | joined_right[right];
        made.precedes = signatures[left].precedes | joined_left[left];
        joined_right[left] |= start_bit(right);
    }
    for (std::size_t rank = 0; rank < signatures.size(); ++rank) {
        signatures[rank].follows |= joined_right[rank];
        signatures[rank].precedes |= joined_left[rank];
    }
    return signatures;
}

/// Undoes the merges that made the two tokens, last one first, watching only the parts at the boundary. A merge across the
/// boundary must never come before the one undone: it must not have a lower rank, nor the same rank further left.
bool Adjacency::allows(std::uint32_t left, std::uint32_t right, std::uint32_t limit) const {
    while (true) {  // the merges not undone yet have ranks below the limit
        const std::uint32_t across = lookup_.find(left, right);
        if (across < limit) return false;
        if ((left | right) < byte_count) return true;
        // The higher rank was made last; of equal ones the right, since merging goes from the left. Which one it is
        // cannot be predicted, so both results are computed and one is selected.
        const bool is_left = left > right;
        const std::uint32_t left_inside = raw(lookup_.parts(left).right), right_inside = raw(lookup_.parts(right).left);
        limit = is_left ? left : right + 1;
        left = is_left ? left_inside : left;
        right = is_left ? right : right_inside;
    }
}

}  // namespace prunedbpe
