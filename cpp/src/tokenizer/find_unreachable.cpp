#include "prunedbpe/merger.hpp"
#include "prunedbpe/tokenizer.hpp"
#include "tokenizer/expansions.hpp"

namespace prunedbpe {

std::optional<std::uint32_t> find_unreachable(std::span<const Merge> merges) {
    const MergeLookup lookup(merges);
    const TokenStrings strings(merges);
    MergeScratch scratch;
    for (std::uint32_t rank = byte_count; rank < strings.size(); ++rank) {
        merge_chunk(lookup, strings[rank], scratch);
        if (scratch.ranks.size() != 1 || scratch.ranks[0] != rank) return rank;
    }
    return std::nullopt;
}

}  // namespace prunedbpe
