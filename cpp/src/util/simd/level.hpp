// Instruction sets beyond the compiler's baseline: compiled next to the portable code, chosen at run time.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

/// Attribute of functions that may run only where best_level() is avx2.
#define PRUNEDBPE_AVX2 gnu::target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif

namespace prunedbpe::simd {

/// Which variant of a function runs. All variants return the same result; tests run each by name.
enum class Level { portable, avx2 };

inline Level best_level() {
#ifdef PRUNEDBPE_AVX2
    // Every CPU with BMI2 has LZCNT, which older compilers cannot query.
    static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                                 __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    if (has_avx2) return Level::avx2;
#endif
    return Level::portable;
}

}  // namespace prunedbpe::simd
