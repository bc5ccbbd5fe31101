// Code for newer processors beside code for all: compiled together, chosen when the program runs.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

/// An attribute of functions that are called only where `has_avx2()`.
#define PRUNEDBPE_AVX2 gnu::target("avx2,bmi,bmi2,lzcnt,popcnt")

namespace prunedbpe {

/// No processor with BMI2 is without LZCNT, which older compilers cannot ask for.
inline bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}

}  // namespace prunedbpe

#endif
