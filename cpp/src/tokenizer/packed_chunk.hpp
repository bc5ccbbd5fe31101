// Short chunks packed into words: compared and hashed in registers, without a loop over their bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "util/hash.hpp"
#include "util/simd/sixteen_bytes.hpp"

namespace prunedbpe {

static_assert(std::endian::native == std::endian::little, "masks keep the first bytes of a load");

/// Ones, then zeros: a load that starts `size` bytes before the zeros masks the first `size` bytes.
template <std::size_t width>
struct PrefixMasks {
    unsigned char bytes[2 * width];
    constexpr PrefixMasks() : bytes{} {
        for (std::size_t i = 0; i < width; ++i) bytes[i] = 0xFF;
    }
};

/// A chunk of up to 8 * words - 1 bytes, padded with zeros. The last byte is the length: it keeps "a" and "a\0" apart.
template <std::size_t word_count>
struct PackedChunk {
    static constexpr std::size_t width = 8 * word_count, capacity = width - 1;

    std::uint64_t words[word_count];

    /// The chunk [at, at + size) of a text that ends at `end`. With `roomy`, `width` bytes may be read at `at`.
    template <bool roomy = false>
    static PackedChunk of(const char* at, std::size_t size, const char* end) {
        static constexpr PrefixMasks<width> masks;
        PackedChunk chunk;
        if (roomy || end - at >= static_cast<std::ptrdiff_t>(width)) [[likely]] {
            const char* const mask = reinterpret_cast<const char*>(masks.bytes) + width - size;
            for (std::size_t i = 0; i < word_count; ++i) chunk.words[i] = load_64(at + 8 * i) & load_64(mask + 8 * i);
        } else {
            for (std::uint64_t& word : chunk.words) word = 0;
            std::memcpy(chunk.words, at, size);
        }
        chunk.words[word_count - 1] |= std::uint64_t{size} << 56;
        return chunk;
    }

    std::size_t size() const { return words[word_count - 1] >> 56; }

    /// 1 if they are equal, else 0: an integer, because a branch on it would be mispredicted.
    unsigned equals(const PackedChunk& other) const {
        static_assert(word_count % 2 == 0);
        const auto half = [](const PackedChunk& chunk, std::size_t i) {
            return SixteenBytes(reinterpret_cast<const char*>(chunk.words + i));
        };
        auto same = half(*this, 0).equals(half(other, 0));
        for (std::size_t i = 2; i < word_count; i += 2) same = same & half(*this, i).equals(half(other, i));
        return (static_cast<unsigned>(same.bits()) + 1) >> 16;
    }

    /// Not a chunk: all zeros.
    bool is_empty() const { return words[word_count - 1] == 0; }

    /// Only the high bits are good.
    std::uint64_t hash() const {
        constexpr std::uint64_t factors[] = {0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xC2B2AE3D27D4EB4F, 0xA0761D6478BD642F};
        std::uint64_t hash = 0;
        for (std::size_t i = 0; i < word_count; ++i) hash += words[i] * factors[i];
        return hash;
    }
};

}  // namespace prunedbpe
