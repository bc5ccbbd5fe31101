#include <algorithm>
#include <bit>

#include "tokenizer/simd/short_merger.hpp"

#ifdef PRUNEDBPE_AVX2

namespace prunedbpe {
namespace {

constexpr int lane_count = 8;          // 16-bit lanes of a register
constexpr int spare = 2 * lane_count;  // an index after the tokens of any chunk

/// All ones in one lane of two registers; in none for lane -1.
struct LaneMasks {
    alignas(16) std::uint16_t lanes[2 * lane_count + 1][2 * lane_count];
    constexpr LaneMasks() : lanes{} {
        for (int i = 0; i < 2 * lane_count; ++i) lanes[i + 1][i] = 0xFFFF;
    }
    template <int half>
    __m128i at(int lane) const {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(lanes[lane + 1] + half * lane_count));
    }
};
constexpr LaneMasks only;

/// Zeros, then ones: a load from the middle has ones from a given lane on.
struct Step {
    std::uint16_t lanes[4 * lane_count];
    constexpr Step() : lanes{} {
        for (int i = 2 * lane_count; i < 4 * lane_count; ++i) lanes[i] = 0xFFFF;
    }
    template <int half>
    __m128i from(int lane) const {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(lanes + (2 + half) * lane_count - lane));
    }
};
constexpr Step ones;

/// The pairs of a chunk: lane i holds the rank that the token at byte i and the next token merge into. `is_wide`: more
/// than eight pairs.
template <bool is_wide>
struct Lanes {
    __m128i low, high;

    /// The first `count` pairs of bytes.
    [[PRUNEDBPE_AVX2, gnu::always_inline]] inline Lanes(const MergeRows& rows, const unsigned char* bytes, int count) {
        const auto rank = [&](int i) { return static_cast<short>(rows.find_bytes(bytes + i)); };
        low = _mm_setr_epi16(rank(0), rank(1), rank(2), rank(3), rank(4), rank(5), rank(6), rank(7));
        low = _mm_or_si128(low, ones.from<0>(count));
        if constexpr (is_wide) {
            // Fifteen bytes have fourteen pairs.
            high = _mm_setr_epi16(rank(8), rank(9), rank(10), rank(11), rank(12), rank(13), -1, -1);
            high = _mm_or_si128(high, ones.from<1>(count));
        }
    }

    struct Lowest {
        std::uint32_t rank;
        int lane;
    };
    [[PRUNEDBPE_AVX2, gnu::always_inline]] inline Lowest lowest() const {
        // The rank in the low half, its lane above; the leftmost of equals.
        auto found = static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(low)));
        if constexpr (is_wide) {
            const auto other = static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(high))) + (lane_count << 16);
            found = (other & 0xFFFF) < (found & 0xFFFF) ? other : found;
        }
        return {found & 0xFFFF, static_cast<int>(found >> 16)};
    }

    [[PRUNEDBPE_AVX2, gnu::always_inline]] inline void clear(int a, int b, int c) {
        low = _mm_or_si128(low, _mm_or_si128(_mm_or_si128(only.at<0>(a), only.at<0>(b)), only.at<0>(c)));
        if constexpr (is_wide) {
            high = _mm_or_si128(high, _mm_or_si128(_mm_or_si128(only.at<1>(a), only.at<1>(b)), only.at<1>(c)));
        }
    }

    [[PRUNEDBPE_AVX2, gnu::always_inline]] inline void set(int lane, std::uint32_t rank) {
        const __m128i ranks = _mm_set1_epi16(static_cast<short>(rank));
        low = _mm_blendv_epi8(low, ranks, only.at<0>(lane));
        if constexpr (is_wide) high = _mm_blendv_epi8(high, ranks, only.at<1>(lane));
    }
};

}  // namespace

/// Writes the ids of the tokens that begin at the bits of `begins`.
[[PRUNEDBPE_AVX2]] inline std::uint32_t* ShortMerger::write_ids(const std::uint16_t* tokens, std::uint32_t begins,
                                                              std::uint32_t* out) const {
    const int count = std::popcount(begins);
    // Always four: the number of tokens cannot be predicted.
    std::uint32_t all = 0, left = begins;
    for (int i = 0; i < 4; ++i) {
        all |= out[i] = ids_[tokens[std::countr_zero(left | 1u << spare)]];
        left &= left - 1;
    }
    if (count <= 4 && all != Expansions::internal) [[likely]] return out + count;
    for (left = begins; left != 0; left &= left - 1) {
        const std::uint32_t token = tokens[std::countr_zero(left)];
        if (ids_[token] != Expansions::internal) {
            *out++ = ids_[token];
        } else {
            for (const std::uint32_t id : expansions_[token]) *out++ = id;
        }
    }
    return out;
}

template <bool is_wide>
[[PRUNEDBPE_AVX2]] std::uint32_t* ShortMerger::merge_lanes(const Key& chunk, std::uint32_t* out) const {
    constexpr auto none = static_cast<std::uint16_t>(MergeRows::none);
    const auto size = static_cast<int>(chunk.size());
    // By first byte, with `none` before the first token and after the last.
    alignas(16) std::uint16_t padded[4 * lane_count];
    std::uint16_t* const tokens = padded + lane_count;
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(chunk.words));
    _mm_store_si128(reinterpret_cast<__m128i*>(tokens), _mm_unpacklo_epi8(bytes, _mm_setzero_si128()));
    _mm_store_si128(reinterpret_cast<__m128i*>(tokens + lane_count), _mm_unpackhi_epi8(bytes, _mm_setzero_si128()));
    tokens[-1] = tokens[size] = none;
    tokens[spare] = 0;
    // Bit i: a token begins at byte i. One more bit marks the end.
    std::uint32_t begins = (2u << size) - 1;

    Lanes<is_wide> pairs(rows_, reinterpret_cast<const unsigned char*>(chunk.words), size - 1);
    for (auto best = pairs.lowest(); best.rank != none;) {
        const int at = best.lane;
        const std::uint32_t later = begins & ~1u << at, after_merge = later & (later - 1);
        const int next = std::countr_zero(later), after_next = std::countr_zero(after_merge);
        const int before = 31 - std::countl_zero(begins & ((1u << at) - 1));  // -1: there is none
        begins ^= later ^ after_merge;
        tokens[at] = static_cast<std::uint16_t>(best.rank);

        const MergeRows::Row row = rows_.row(best.rank);
        const std::uint32_t left_rank = rows_.find_left(row, tokens[before]);
        const std::uint32_t right_rank = rows_.find_right(row, tokens[after_next]);
        rows_.prefetch(left_rank);
        rows_.prefetch(right_rank);
        // The next merge is mostly an old pair. A branch lets the CPU speculate on that instead of waiting for the new
        // pairs' ranks; a conditional move takes a quarter longer per chunk.
        pairs.clear(before, at, next);
        best = pairs.lowest();
        pairs.set(at, right_rank);
        pairs.set(before, left_rank);
        if (std::min(left_rank, right_rank) <= best.rank) {
            asm volatile("");  // keeps the branch
            best = pairs.lowest();
        }
    }

    begins ^= 1u << size;  // the end is not a token
    return write_ids(tokens, begins, out);
}

[[PRUNEDBPE_AVX2]] std::uint32_t* ShortMerger::merge_avx2(const Key& chunk, std::uint32_t* out) const {
    return chunk.size() > lane_count + 1 ? merge_lanes<true>(chunk, out) : merge_lanes<false>(chunk, out);
}

}  // namespace prunedbpe

#endif
