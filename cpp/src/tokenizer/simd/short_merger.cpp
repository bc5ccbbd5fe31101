#include "tokenizer/simd/short_merger.hpp"

#include <algorithm>

namespace prunedbpe {

ShortMerger::ShortMerger(std::span<const Merge> merges, const Expansions& expansions, simd::Level level, bool is_wanted)
    : rows_(is_wanted ? merges : merges.first(0)),
      level_(level),
      is_usable_(is_wanted && rows_.are_complete()),
      expansions_(expansions) {
    if (!is_usable_) return;
    ids_.reserve(expansions.size());
    for (std::uint32_t rank = 0; rank < expansions.size(); ++rank) ids_.push_back(expansions.id_of(rank));
}

std::uint32_t* ShortMerger::encode(const Key& chunk, std::uint32_t* out) const {
    if (!is_usable_) return nullptr;
    // The product adds up the bytes. The length, in the last byte, is below 128.
    constexpr std::uint64_t each_byte = 0x0101010101010101, high_bits = 0x80 * each_byte;
    const std::uint64_t is_outside = ((chunk.words[0] & high_bits) >> 7) + ((chunk.words[1] & high_bits) >> 7);
    const std::size_t outside_ascii = is_outside * each_byte >> 56;
    if (2 * outside_ascii > chunk.size()) return nullptr;
#ifdef PRUNEDBPE_AVX2
    if (level_ == simd::Level::avx2) return merge_avx2(chunk, out);
#endif
    return merge_portable(chunk, out);
}

std::uint32_t* ShortMerger::merge_portable(const Key& chunk, std::uint32_t* out) const {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(chunk.words);
    std::size_t count = chunk.size();
    // Token i is at i + 1, with sentinels on both sides; ranks[i] is the merge of tokens[i] and tokens[i + 1].
    std::uint32_t tokens[room + 1], ranks[room + 1];
    tokens[0] = tokens[count + 1] = ranks[0] = ranks[count] = MergeRows::none;
    for (std::size_t i = 1; i <= count; ++i) tokens[i] = bytes[i - 1];
    for (std::size_t i = 1; i < count; ++i) ranks[i] = rows_.find_bytes(bytes + i - 1);
    while (true) {
        std::uint32_t* const lowest = std::min_element(ranks + 1, ranks + count + 1);  // the leftmost of equals
        if (*lowest == MergeRows::none) break;
        const auto at = static_cast<std::size_t>(lowest - ranks);
        tokens[at] = *lowest;
        std::copy(tokens + at + 2, tokens + count + 2, tokens + at + 1);
        std::copy(ranks + at + 2, ranks + count + 1, ranks + at + 1);
        --count;
        const MergeRows::Row row = rows_.row(tokens[at]);
        ranks[at - 1] = rows_.find_left(row, tokens[at - 1]);
        ranks[at] = rows_.find_right(row, tokens[at + 1]);
    }
    for (std::size_t i = 1; i <= count; ++i) {
        if (ids_[tokens[i]] != Expansions::internal) [[likely]] {
            *out++ = ids_[tokens[i]];
        } else {
            for (const std::uint32_t id : expansions_[tokens[i]]) *out++ = id;
        }
    }
    return out;
}

}  // namespace prunedbpe
