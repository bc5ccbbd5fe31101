#include <algorithm>
#include <stdexcept>

#include "prunedbpe/vocabulary.hpp"

namespace prunedbpe {

std::vector<std::uint32_t> assign_token_ids(std::span<const bool> visible, std::size_t special_count) {
    auto next_visible = std::uint32_t{0};
    auto next_internal = static_cast<std::uint32_t>(std::count(visible.begin(), visible.end(), true) +
                                                    static_cast<std::ptrdiff_t>(special_count));
    std::vector<std::uint32_t> ids;
    ids.reserve(visible.size());
    for (const bool is_visible : visible) ids.push_back(is_visible ? next_visible++ : next_internal++);
    return ids;
}

ExpandedRanks expand_internal(std::span<const Merge> merges, std::span<const bool> visible,
                              std::span<const std::uint32_t> token_ids) {
    if (visible.size() != byte_count + merges.size() || token_ids.size() != visible.size()) {
        throw std::invalid_argument("visibility and ids must be given for every rank");
    }
    ExpandedRanks expanded;
    expanded.ids.reserve(token_ids.size() * 5 / 4);
    expanded.offsets.reserve(token_ids.size() + 1);
    expanded.offsets.push_back(0);
    for (std::size_t rank = 0; rank < token_ids.size(); ++rank) {
        if (visible[rank] || rank < byte_count) {
            expanded.ids.push_back(token_ids[rank]);
        } else {
            const Merge& merge = merges[rank - byte_count];
            if (has_late_part(merge, rank - byte_count)) throw std::invalid_argument("a part is not made before its token");
            for (const std::size_t part : {raw(merge.left), raw(merge.right)}) {
                for (auto i = static_cast<std::size_t>(expanded.offsets[part]);
                     i < static_cast<std::size_t>(expanded.offsets[part + 1]); ++i) {
                    expanded.ids.push_back(expanded.ids[i]);
                }
            }
        }
        expanded.offsets.push_back(static_cast<std::int64_t>(expanded.ids.size()));
    }
    return expanded;
}

}  // namespace prunedbpe
