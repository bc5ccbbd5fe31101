#include "tokenizer/adjacency.hpp"

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
        // What begins inside a character is one class: it meets no token that begins with a character.
        const bool is_inside = (first_byte[rank] & 0xC0) == 0x80;
        return 1u << (is_inside ? 31 : (hash_key(rank) >> 32) % 31);
    };
    // In rank order: when a token is made, what its parts were joined to so far came before it.
    std::vector<std::uint32_t> joined_right(signatures.size()), joined_left(signatures.size());
    for (std::uint32_t rank = 0; rank < signatures.size(); ++rank) {
        Signature& made = signatures[rank];
        made.ends = end_bit(rank);
        made.starts = start_bit(rank);
        if (rank < byte_count) continue;
        const std::uint32_t left = raw(merge_of(rank).left), right = raw(merge_of(rank).right);
        made.ends |= signatures[right].ends;
        made.starts |= signatures[left].starts;
        // To the left of an equal merge the crossing one is first, so for beginnings it counts itself.
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

/// Takes back, from the last to the first, the merges that made the two tokens, looking only at what
/// touches the boundary. At each moment a merge across the boundary must not have come before the one
/// taken back: neither a lower rank nor, to the left of an equal rank, the same.
bool Adjacency::allows(std::uint32_t left, std::uint32_t right, std::uint32_t limit) const {
    while (true) {  // merges of the past have ranks below the limit
        const std::uint32_t across = lookup_.find(left, right);
        if (across < limit) return false;
        if ((left | right) < byte_count) return true;
        // The higher rank was made last. Of two equal ones it was the right: merging goes from the left. Which one it
        // is cannot be guessed, so both ways are prepared and one is chosen.
        const bool is_left = left > right;
        const std::uint32_t left_inside = raw(lookup_.parts(left).right), right_inside = raw(lookup_.parts(right).left);
        limit = is_left ? left : right + 1;
        left = is_left ? left_inside : left;
        right = is_left ? right : right_inside;
    }
}

}  // namespace prunedbpe
