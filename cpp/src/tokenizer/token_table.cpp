#include "tokenizer/token_table.hpp"

#include <bit>

namespace prunedbpe {

TokenTable::TokenTable(const Expansions& expansions, const TokenStrings& strings)
    : entries_(std::bit_ceil(expansions.size() * 2)),
      mask_(entries_.size() - 1),
      shift_(64 - std::countr_zero(entries_.size())) {
    for (std::uint32_t rank = 0; rank < expansions.size(); ++rank) {
        const std::string_view string = strings[rank];
        if (string.size() > ShortKey::capacity || expansions[rank].size() != 1) continue;
        const ShortKey key = ShortKey::of(string.data(), string.size(), string.data() + string.size());
        std::size_t at = key.hash() >> shift_;
        while (entries_[at].high != 0) at = (at + 1) & mask_;
        entries_[at] = {key.low, key.high, expansions[rank][0]};
    }
}

}  // namespace prunedbpe
