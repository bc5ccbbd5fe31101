#include "merges/merge_chunk.hpp"
#include "prunedbpe/tokenizer.hpp"
#include "tokenizer/adjacency.hpp"

namespace prunedbpe {

std::optional<std::uint32_t> find_unreachable(std::span<const Merge> merges) {
    const MergeLookup lookup(merges);
    const Adjacency adjacency(lookup);
    for (std::uint32_t i = 0; i < merges.size(); ++i) {
        // The parts, being reachable, come about when nothing before this merge crosses their boundary.
        const std::uint32_t rank = byte_count + i;
        if (!adjacency.allows(raw(merges[i].left), raw(merges[i].right), rank)) return rank;
    }
    return std::nullopt;
}

}  // namespace prunedbpe
