#include <algorithm>
#include <bit>

#include "prunedbpe/merger.hpp"
#include "util/hash.hpp"

namespace prunedbpe {

MergeLookup::MergeLookup(std::span<const Merge> merges)
    : byte_pairs_(byte_count * byte_count, none),
      slots_(std::bit_ceil(merges.size() * 2 + 2)),
      mask_(slots_.size() - 1) {
    for (std::size_t i = 0; i < merges.size(); ++i) {
        const std::uint32_t left = raw(merges[i].left), right = raw(merges[i].right);
        const auto rank = static_cast<std::uint32_t>(byte_count + i);
        if ((left | right) < byte_count) {
            // Of a pair that is given twice the first merge counts, as in the table below.
            std::uint32_t& known = byte_pairs_[left << 8 | right];
            known = std::min(known, rank);
            continue;
        }
        const std::uint64_t key = static_cast<std::uint64_t>(left) << 32 | right;
        std::size_t at = place(key);
        while (slots_[at].rank != none) at = (at + 1) & mask_;
        slots_[at] = {key, rank};
    }
}

std::size_t MergeLookup::place(std::uint64_t key) const { return hash_key(key) & mask_; }

}  // namespace prunedbpe
