#include "tokenizer/token_table.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace prunedbpe {

TokenTable::TokenTable(const Expansions& expansions, const TokenStrings& strings)
    : displacements_(std::bit_ceil(expansions.size()) / 4),
      entries_(std::bit_ceil(expansions.size()) * 2),
      group_shift_(64 - std::countr_zero(displacements_.size())),
      place_shift_(64 - std::countr_zero(entries_.size())) {
    // 1. The tokens that have a key, group by group.
    std::vector<Entry> tokens;
    for (std::uint32_t rank = 0; rank < expansions.size(); ++rank) {
        const std::string_view string = strings[rank];
        if (string.size() > ShortKey::capacity || expansions[rank].size() != 1) continue;
        const ShortKey key = ShortKey::of(string.data(), string.size(), string.data() + string.size());
        tokens.push_back({key.low, key.high, expansions[rank][0]});
    }
    const auto hash = [](const Entry& token) { return ShortKey{token.low, token.high}.hash(); };
    std::vector<std::uint32_t> ends(displacements_.size() + 1), members(tokens.size());
    for (const Entry& token : tokens) ++ends[(hash(token) >> group_shift_) + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<std::uint32_t> fill(ends.begin(), ends.end() - 1);
    for (std::uint32_t i = 0; i < tokens.size(); ++i) members[fill[hash(tokens[i]) >> group_shift_]++] = i;

    // 2. Large groups choose first, while there is room.
    std::vector<std::uint32_t> groups(displacements_.size());
    std::iota(groups.begin(), groups.end(), 0u);
    const auto size = [&](std::uint32_t group) { return ends[group + 1] - ends[group]; };
    std::stable_sort(groups.begin(), groups.end(), [&](auto a, auto b) { return size(a) > size(b); });
    for (const std::uint32_t group : groups) {
        // A group for which nothing fits stays outside: its tokens are encoded as any other chunk.
        for (std::uint32_t displacement = 0; displacement < 256; ++displacement) {
            std::uint32_t i = ends[group];
            for (; i < ends[group + 1]; ++i) {
                Entry& entry = entries_[place(hash(tokens[members[i]]), displacement)];
                if (entry.high != 0) break;
                entry = tokens[members[i]];
            }
            displacements_[group] = static_cast<std::uint8_t>(displacement);
            if (i == ends[group + 1]) break;
            while (i-- > ends[group]) entries_[place(hash(tokens[members[i]]), displacement)] = Entry();
        }
    }
}

}  // namespace prunedbpe
