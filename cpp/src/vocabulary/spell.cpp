#include <algorithm>
#include <cstring>
#include <numeric>

#include "prunedbpe/vocabulary.hpp"

namespace prunedbpe {
namespace {

/// Few tokens are longer. Copying a constant size is faster; the next token overwrites the excess.
constexpr std::size_t wide = 16;

std::uint8_t* copy(const std::uint8_t* from, std::size_t length, std::uint8_t* to) {
    if (length > wide) return std::copy_n(from, length, to);
    std::uint8_t bytes[wide];  // a register: the ranges may overlap
    std::memcpy(bytes, from, wide);
    std::memcpy(to, bytes, wide);
    return to + length;
}

}  // namespace

TokenStrings spell(std::span<const Merge> merges) {
    TokenStrings strings;
    strings.offsets.resize(byte_count + merges.size() + 1);
    std::int64_t* const offsets = strings.offsets.data();
    std::iota(offsets, offsets + byte_count + 1, 0);
    const auto length = [&](Rank rank) { return offsets[raw(rank) + 1] - offsets[raw(rank)]; };
    for (std::size_t i = 0; i < merges.size(); ++i) {
        offsets[byte_count + i + 1] = offsets[byte_count + i] + length(merges[i].left) + length(merges[i].right);
    }
    const auto size = static_cast<std::size_t>(strings.offsets.back());
    strings.bytes.resize(size + wide);
    std::uint8_t* const bytes = strings.bytes.data();
    std::iota(bytes, bytes + byte_count, std::uint8_t{0});
    for (std::size_t i = 0; i < merges.size(); ++i) {
        std::uint8_t* to = bytes + offsets[byte_count + i];
        for (const Rank part : {merges[i].left, merges[i].right}) {
            to = copy(bytes + offsets[raw(part)], static_cast<std::size_t>(length(part)), to);
        }
    }
    strings.bytes.resize(size);
    return strings;
}

}  // namespace prunedbpe
