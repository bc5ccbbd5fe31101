// What stands for a token: its visible ids, and its bytes. Flat arrays by rank.
#pragma once

#include <algorithm>
#include <cstdint>
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
        offsets_.reserve(byte_count + merges.size() + 1);
        for (std::uint32_t byte = 0; byte < byte_count; ++byte) {
            offsets_.push_back(bytes_.size());
            bytes_.push_back(static_cast<char>(byte));
        }
        offsets_.push_back(bytes_.size());
        for (const Merge& merge : merges) {
            for (const std::uint32_t part : {raw(merge.left), raw(merge.right)}) {
                const std::size_t begin = offsets_[part], size = offsets_[part + 1] - begin;
                bytes_.resize(bytes_.size() + size);
                std::copy_n(bytes_.data() + begin, size, bytes_.data() + bytes_.size() - size);
            }
            offsets_.push_back(bytes_.size());
        }
    }

    std::size_t size() const { return offsets_.size() - 1; }
    std::string_view operator[](std::uint32_t rank) const {
        return {bytes_.data() + offsets_[rank], offsets_[rank + 1] - offsets_[rank]};
    }
    std::string_view bytes() const { return bytes_; }
    std::span<const std::size_t> offsets() const { return offsets_; }

private:
    std::string bytes_;
    std::vector<std::size_t> offsets_;
};

}  // namespace prunedbpe
