// Two adjacent ranks, the key of every table of pairs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "util/hash.hpp"

namespace prunedbpe {

struct Pair {
    std::uint32_t left;
    std::uint32_t right;

    std::uint64_t key() const { return static_cast<std::uint64_t>(left) << 32 | right; }
    bool operator==(const Pair&) const = default;
};

inline std::uint64_t hash_pair(Pair pair) { return hash_key(pair.key()); }

/// For the containers of the standard library.
struct PairHash {
    std::size_t operator()(Pair pair) const { return hash_pair(pair); }
};

}  // namespace prunedbpe
