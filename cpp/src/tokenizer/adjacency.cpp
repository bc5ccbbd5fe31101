#include "tokenizer/adjacency.hpp"

namespace prunedbpe {

Signatures::Signatures(std::span<const Merge> merges) : follows(byte_count + merges.size()), starts(follows.size()) {
    std::vector<unsigned char> first_byte(follows.size());
    const auto bit = [&](std::uint32_t rank) {
        // What begins inside a character is one class: it meets no token that begins with a character.
        const bool is_inside = (first_byte[rank] & 0xC0) == 0x80;
        return std::uint64_t{1} << (is_inside ? 63 : hash_key(rank) % 63);
    };
    const auto merge_of = [&](std::size_t rank) { return merges[rank - byte_count]; };
    for (std::uint32_t rank = 0; rank < follows.size(); ++rank) {
        first_byte[rank] = rank < byte_count ? static_cast<unsigned char>(rank) : first_byte[raw(merge_of(rank).left)];
        starts[rank] = bit(rank) | (rank < byte_count ? 0 : starts[raw(merge_of(rank).left)]);
    }
    for (const Merge& merge : merges) follows[raw(merge.left)] |= bit(raw(merge.right));
    for (std::size_t rank = byte_count; rank < follows.size(); ++rank) {
        follows[rank] |= follows[raw(merge_of(rank).right)];
    }
}

Adjacency::Adjacency(const MergeLookup& lookup, std::span<const Merge> merges)
    : lookup_(lookup), known_(std::size_t{1} << known_bits) {
    parts_.reserve(byte_count + merges.size());
    for (std::uint32_t byte = 0; byte < byte_count; ++byte) parts_.push_back({Rank{byte}, Rank{byte}});
    parts_.insert(parts_.end(), merges.begin(), merges.end());
    for (auto& entry : known_) entry.store(~std::uint64_t{0}, std::memory_order_relaxed);  // no pair
}

/// Takes back, from the last to the first, the merges that made the two tokens, looking only at what
/// touches the boundary. At each moment a merge across the boundary must not have come before the one
/// taken back: neither a lower rank nor, to the left of an equal rank, the same.
bool Adjacency::unwind(std::uint32_t left, std::uint32_t right) const {
    std::uint32_t limit = MergeLookup::none;  // merges of the past have ranks below it
    while (true) {
        const std::uint32_t across = lookup_.find(left, right);
        if (across < limit) return false;
        // The higher rank was made last. Of two equal ones it was the right: merging goes from the left.
        if ((left > right && left >= byte_count) || right < byte_count) {
            if (left < byte_count) return true;
            limit = left;
            left = raw(parts_[left].right);
        } else {
            limit = right + 1;
            right = raw(parts_[right].left);
        }
    }
}

}  // namespace prunedbpe
