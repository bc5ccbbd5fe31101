// Hashes for the core's own tables. No result depends on them: every table is read back in an order
// of its own.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace prunedbpe {

/// Multiplies to 128 bits and folds: every input bit reaches every output bit.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t load_64(const char* p) {
    std::uint64_t value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

inline std::uint64_t load_32(const char* p) {
    std::uint32_t value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

inline std::uint64_t hash_bytes(std::string_view bytes) {
    constexpr std::uint64_t seed = 0x9E3779B97F4A7C15, step = 0xD6E8FEB86659FD93;
    const char* p = bytes.data();
    std::size_t left = bytes.size();
    std::uint64_t state = seed ^ left;
    while (left > 16) {
        state = mix(load_64(p) ^ step, load_64(p + 8) ^ state);
        p += 16;
        left -= 16;
    }
    // Two overlapping loads cover the last 1-16 bytes without a loop over single bytes.
    std::uint64_t low = 0, high = 0;
    if (left >= 8) {
        low = load_64(p);
        high = load_64(p + left - 8);
    } else if (left >= 4) {
        low = load_32(p);
        high = load_32(p + left - 4);
    } else if (left > 0) {
        const auto byte = [p](std::size_t i) { return static_cast<unsigned char>(p[i]); };
        low = static_cast<std::uint64_t>(byte(0)) << 16 | static_cast<std::uint64_t>(byte(left / 2)) << 8 |
              byte(left - 1);
    }
    return mix(low ^ step, high ^ state);
}

inline std::uint64_t hash_key(std::uint64_t key) { return mix(key ^ 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93); }

}  // namespace prunedbpe
