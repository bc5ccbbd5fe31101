#include "tokenizer/simd/lane_merger.hpp"

#include <algorithm>
#include <bit>

#include "util/processor.hpp"

namespace prunedbpe {
namespace {

bool has_lanes() {
#ifdef PRUNEDBPE_AVX2
    return has_avx2();
#else
    return false;
#endif
}

}  // namespace

LaneMerger::LaneMerger(std::span<const Merge> merges, const Expansions& expansions)
    : rows_(has_lanes() ? merges : merges.first(0)),
      is_usable_(has_lanes() && rows_.are_complete()),
      expansions_(expansions) {
    if (!is_usable_) return;
    ids_.reserve(expansions.size());
    for (std::uint32_t rank = 0; rank < expansions.size(); ++rank) {
        const auto ids = expansions[rank];
        ids_.push_back(ids.size() == 1 ? ids[0] : internal);
    }
}

#ifdef PRUNEDBPE_AVX2

namespace {

constexpr int lane_count = 8;          // of a register
constexpr int spare = 2 * lane_count;  // behind the tokens of any chunk

/// All ones in one lane of two registers, or in none for -1.
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

/// Zeros, then ones: a load from the middle fills the lanes from one on.
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

/// The pairs of a chunk. `is_wide`: of more than eight pairs.
template <bool is_wide>
struct Lanes {
    __m128i low, high;

    /// The ranks of the merges of neighbouring bytes of a key; there are `count` pairs.
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
        // The rank in the lower half, the lane above it.
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

/// The ids of the tokens whose bits are set.
[[PRUNEDBPE_AVX2]] inline std::uint32_t* LaneMerger::write_ids(const std::uint16_t* tokens, std::uint32_t begins,
                                                              std::uint32_t* out) const {
    const int count = std::popcount(begins);
    // Four at once, whether there are so many or not: how many there are cannot be guessed.
    std::uint32_t all = 0, left = begins;
    for (int i = 0; i < 4; ++i) {
        all |= out[i] = ids_[tokens[std::countr_zero(left | 1u << spare)]];
        left &= left - 1;
    }
    if (count <= 4 && all != internal) [[likely]] return out + count;
    for (left = begins; left != 0; left &= left - 1) {
        const std::uint32_t token = tokens[std::countr_zero(left)];
        if (ids_[token] != internal) {
            *out++ = ids_[token];
        } else {
            for (const std::uint32_t id : expansions_[token]) *out++ = id;
        }
    }
    return out;
}

template <bool is_wide>
[[PRUNEDBPE_AVX2]] std::uint32_t* LaneMerger::merge(const Key& chunk, std::uint32_t* out) const {
    constexpr auto none = static_cast<std::uint16_t>(MergeRows::none);
    const auto size = static_cast<int>(chunk.size());
    // By their first byte; before the first and behind the last token stands `none`.
    alignas(16) std::uint16_t places[4 * lane_count];
    std::uint16_t* const tokens = places + lane_count;
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(chunk.words));
    _mm_store_si128(reinterpret_cast<__m128i*>(tokens), _mm_unpacklo_epi8(bytes, _mm_setzero_si128()));
    _mm_store_si128(reinterpret_cast<__m128i*>(tokens + lane_count), _mm_unpackhi_epi8(bytes, _mm_setzero_si128()));
    tokens[-1] = tokens[size] = none;
    tokens[spare] = 0;
    // Bit i: a token begins at byte i. One more stands for the end.
    std::uint32_t begins = (2u << size) - 1;

    Lanes<is_wide> pairs(rows_, reinterpret_cast<const unsigned char*>(chunk.words), size - 1);
    for (auto best = pairs.lowest(); best.rank != none;) {
        const int at = best.lane;
        const std::uint32_t behind = begins & ~1u << at, behind_next = behind & (behind - 1);
        const int next = std::countr_zero(behind), after_next = std::countr_zero(behind_next);
        const int before = 31 - std::countl_zero(begins & ((1u << at) - 1));  // -1: there is none
        begins ^= behind ^ behind_next;
        tokens[at] = static_cast<std::uint16_t>(best.rank);

        const MergeRows::Row row = rows_.row(best.rank);
        const std::uint32_t before_rank = rows_.find_before(row, tokens[before]);
        const std::uint32_t behind_rank = rows_.find_behind(row, tokens[after_next]);
        rows_.fetch(before_rank);
        rows_.fetch(behind_rank);
        // Mostly the next merge is an old pair. A branch, not a choice, so that the processor goes on with that one and
        // need not wait until it is known what the new pairs are: with a choice a chunk takes a quarter longer.
        pairs.clear(before, at, next);
        best = pairs.lowest();
        pairs.set(at, behind_rank);
        pairs.set(before, before_rank);
        if (std::min(before_rank, behind_rank) <= best.rank) {
            asm volatile("");  // keeps the branch
            best = pairs.lowest();
        }
    }

    begins ^= 1u << size;
    return write_ids(tokens, begins, out);
}

[[PRUNEDBPE_AVX2]] std::uint32_t* LaneMerger::encode_in_lanes(const Key& chunk, std::uint32_t* out) const {
    constexpr std::uint64_t high_bits = 0x8080808080808080;
    const auto outside_ascii = std::popcount(chunk.words[0] & high_bits) + std::popcount(chunk.words[1] & high_bits);
    if (2 * static_cast<std::size_t>(outside_ascii) > chunk.size()) return nullptr;
    return chunk.size() > lane_count + 1 ? merge<true>(chunk, out) : merge<false>(chunk, out);
}

#else

std::uint32_t* LaneMerger::encode_in_lanes(const Key&, std::uint32_t*) const { return nullptr; }

#endif

}  // namespace prunedbpe
