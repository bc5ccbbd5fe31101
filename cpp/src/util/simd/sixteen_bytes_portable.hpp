// SixteenBytes in two 64-bit words: SIMD within a register, for any little-endian CPU.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace prunedbpe::simd::portable {

static_assert(std::endian::native == std::endian::little, "the first byte of a load is the lowest");

inline constexpr std::uint64_t each_byte = 0x0101010101010101, high_bits = 0x80 * each_byte, low_bits = 0x7F * each_byte;

/// The answer for a byte is its highest bit; the other bits mean nothing.
struct ByteMask {
    std::uint64_t first, second;

    ByteMask operator|(ByteMask other) const { return {first | other.first, second | other.second}; }
    ByteMask operator&(ByteMask other) const { return {first & other.first, second & other.second}; }
    ByteMask and_not(ByteMask other) const { return {first & ~other.first, second & ~other.second}; }
    /// Bit i is the answer for byte i.
    std::uint64_t bits() const { return gather(first) | gather(second) << 8; }

private:
    /// The product moves the highest bit of byte i to bit 56 + i; no two terms meet, so nothing carries.
    static std::uint64_t gather(std::uint64_t word) { return (word & high_bits) * 0x0002040810204081 >> 56; }
};

class SixteenBytes {
public:
    explicit SixteenBytes(const char* at) {
        std::memcpy(&first_, at, 8);
        std::memcpy(&second_, at + 8, 8);
    }

    /// Turns A-Z into a-z. Other bytes change too, but none becomes a letter.
    SixteenBytes lower_case() const { return {first_ | 0x20 * each_byte, second_ | 0x20 * each_byte}; }

    ByteMask is_outside_ascii() const { return {first_, second_}; }
    ByteMask is(int byte) const {
        const std::uint64_t wanted = each_byte * static_cast<unsigned char>(byte);
        return {is_zero(first_ ^ wanted), is_zero(second_ ^ wanted)};
    }
    ByteMask equals(SixteenBytes other) const { return {is_zero(first_ ^ other.first_), is_zero(second_ ^ other.second_)}; }
    /// Is the byte one of the `count` values from `first` on? `count` is at most 128.
    ByteMask in(int first, int count) const {
        const std::uint64_t start = each_byte * static_cast<unsigned char>(first);
        const std::uint64_t limit = each_byte * static_cast<unsigned char>(128 - count);
        const auto is_in = [=](std::uint64_t word) {
            // Subtracts byte by byte: the highest bits, set before and corrected after, stop every borrow.
            const std::uint64_t shifted = ((word | high_bits) - (start & low_bits)) ^ ((word ^ ~start) & high_bits);
            return ~(shifted | ((shifted & low_bits) + limit));
        };
        return {is_in(first_), is_in(second_)};
    }
    /// Is the byte `first` or larger? `first` is at least 0x80.
    ByteMask from(int first) const { return in(first, 256 - first); }

private:
    SixteenBytes(std::uint64_t first, std::uint64_t second) : first_(first), second_(second) {}

    static std::uint64_t is_zero(std::uint64_t word) { return ~(((word & low_bits) + low_bits) | word); }

    std::uint64_t first_, second_;
};

}  // namespace prunedbpe::simd::portable
