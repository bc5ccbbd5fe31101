// Characters of one, two or four bytes to UTF-8. The AVX2 variant handles text of two bytes per character; all other
// text, and the end of that, takes the portable one.
#pragma once

#include <cstdint>

#include "util/simd/level.hpp"
#include "util/simd/utf8_avx2.hpp"
#include "util/simd/utf8_portable.hpp"

namespace prunedbpe::simd {

/// Bytes to allocate for `length` characters: a block of sixteen is stored whole, wherever its text ends.
template <class Unit>
constexpr std::size_t utf8_room(std::size_t length) {
    return length * (sizeof(Unit) == 1 ? 2 : sizeof(Unit) == 2 ? 3 : 4) + 16;
}

/// Writes [at, end) to `out`, which has utf8_room. Returns the end of the text, or nullptr if it holds a surrogate.
template <class Unit>
char* write_utf8(const Unit* at, const Unit* end, char* out, [[maybe_unused]] Level level = best_level()) {
#ifdef PRUNEDBPE_AVX2
    if constexpr (sizeof(Unit) == 2) {
        if (level == Level::avx2) {
            const avx2::Written written = avx2::write_utf8(at, end, out);
            if (written.has_surrogate) return nullptr;
            at = written.at;
            out = written.out;
        }
    }
#endif
    return portable::write_utf8(at, end, out);
}

}  // namespace prunedbpe::simd
