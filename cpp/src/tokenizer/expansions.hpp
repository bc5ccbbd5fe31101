// The visible ids of every rank, owned.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace prunedbpe {

class Expansions {
public:
    Expansions(std::span<const std::uint32_t> ids, std::span<const std::int64_t> offsets)
        : ids_(ids.begin(), ids.end()), offsets_(offsets.begin(), offsets.end()) {}

    std::size_t size() const { return offsets_.size() - 1; }
    std::span<const std::uint32_t> operator[](std::uint32_t rank) const {
        return {ids_.data() + offsets_[rank], offsets_[rank + 1] - offsets_[rank]};
    }

    static constexpr std::uint32_t internal = 0xFFFFFFFF;
    /// The id of a visible rank; `internal` for one with several ids.
    std::uint32_t id_of(std::uint32_t rank) const {
        return offsets_[rank + 1] - offsets_[rank] == 1 ? ids_[offsets_[rank]] : internal;
    }

private:
    std::vector<std::uint32_t> ids_;
    std::vector<std::uint32_t> offsets_;
};

}  // namespace prunedbpe
