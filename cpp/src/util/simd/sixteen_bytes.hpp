// Sixteen bytes of text, and one yes/no answer per byte. Users see only SixteenBytes; the compiler's
// target decides which variant it names.
#pragma once

#include <cstddef>
#include <cstdint>

#include "util/simd/sixteen_bytes_portable.hpp"
#include "util/simd/sixteen_bytes_sse2.hpp"

namespace prunedbpe {

#ifdef __SSE2__
using SixteenBytes = simd::sse2::SixteenBytes;
#else
using SixteenBytes = simd::portable::SixteenBytes;
#endif

/// The answers for the 64 bytes at `at`: bit i is about byte i.
template <class Bytes = SixteenBytes, class Question>
[[gnu::always_inline]] inline std::uint64_t bits_of_64(const char* at, Question&& question) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 64; i += 16) bits |= question(Bytes(at + i)).bits() << i;
    return bits;
}

}  // namespace prunedbpe
