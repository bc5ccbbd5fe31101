// What stands for a token: its visible ids, and its bytes. Flat arrays by rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prunedbpe/types.hpp"

namespace prunedbpe {

/// The visible ids of every rank.
class Expansions {
public:
    Expansions(std::span<const std::uint32_t> ids, std::span<const std::int64_t> offsets)
        : ids_(ids.begin(), ids.end()), offsets_(offsets.begin(), offsets.end()) {}

    std::size_t size() const { return offsets_.size() - 1; }
    std::span<const std::uint32_t> operator[](std::uint32_t rank) const {
        return {ids_.data() + offsets_[rank], offsets_[rank + 1] - offsets_[rank]};
    }

private:
    std::vector<std::uint32_t> ids_;
    std::vector<std::uint32_t> offsets_;
};

/// The bytes of every rank, joined from those of its parts.
class TokenStrings {
public:
    explicit TokenStrings(std::span<const Merge> merges) {
        offsets_.resize(byte_count + merges.size() + 1);
        std::iota(offsets_.begin(), offsets_.begin() + byte_count + 1, std::size_t{0});
        const auto length = [&](Rank rank) { return offsets_[raw(rank) + 1] - offsets_[raw(rank)]; };
        for (std::size_t i = 0; i < merges.size(); ++i) {
            offsets_[byte_count + i + 1] = offsets_[byte_count + i] + length(merges[i].left) + length(merges[i].right);
        }
        bytes_.resize(offsets_.back() + wide);
        for (std::size_t byte = 0; byte < byte_count; ++byte) bytes_[byte] = static_cast<char>(byte);
        for (std::size_t i = 0; i < merges.size(); ++i) {
            char* to = bytes_.data() + offsets_[byte_count + i];
            for (const Rank part : {merges[i].left, merges[i].right}) {
                to = copy(bytes_.data() + offsets_[raw(part)], length(part), to);
            }
        }
    }

    std::size_t size() const { return offsets_.size() - 1; }
    std::string_view operator[](std::uint32_t rank) const {
        return {bytes_.data() + offsets_[rank], offsets_[rank + 1] - offsets_[rank]};
    }
    std::string_view bytes() const { return std::string_view(bytes_).substr(0, offsets_.back()); }
    std::span<const std::size_t> offsets() const { return offsets_; }

private:
    /// Few tokens are longer. Bytes behind a shorter one are written too, and overwritten by what comes there.
    static constexpr std::size_t wide = 16;

    static char* copy(const char* from, std::size_t length, char* to) {
        if (length > wide) return std::copy_n(from, length, to);
        char bytes[wide];  // in a register: `from` and `to` may be less than that apart
        std::memcpy(bytes, from, wide);
        std::memcpy(to, bytes, wide);
        return to + length;
    }

    std::string bytes_;  // and room for what is written behind the last one
    std::vector<std::size_t> offsets_;
};

}  // namespace prunedbpe
