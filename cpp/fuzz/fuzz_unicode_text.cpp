// A Python str in any of its three widths: every SIMD level writes the same UTF-8, or all find a surrogate.
#include <cstring>

#include "fuzz_input.hpp"
#include "prunedbpe/corpus.hpp"
#include "prunedbpe/unicode_text.hpp"
#include "util/simd/utf8.hpp"

using namespace prunedbpe;

namespace {

template <class Unit>
void check_width(std::string_view bytes) {
    const std::size_t length = bytes.size() / sizeof(Unit);
    const auto units = std::make_unique<Unit[]>(length);
    if (length > 0) std::memcpy(units.get(), bytes.data(), length * sizeof(Unit));
    bool has_surrogate = false;
    for (std::size_t i = 0; i < length; ++i) {
        if constexpr (sizeof(Unit) == 4) units[i] %= 0x110000;  // Python guarantees it
        if constexpr (sizeof(Unit) > 1) has_surrogate |= units[i] >= 0xD800 && units[i] < 0xE000;
    }
    const auto write = [&](simd::Level level) {
        const auto room = std::make_unique<char[]>(simd::utf8_room<Unit>(length));
        char* const end = simd::write_utf8(units.get(), units.get() + length, room.get(), level);
        CHECK_EQUAL(end == nullptr, has_surrogate);
        return end == nullptr ? std::string() : std::string(room.get(), end);
    };
    const std::string text = write(simd::Level::portable);
    CHECK_EQUAL(write(simd::best_level()), text);
    CHECK_EQUAL(find_invalid_utf8(text), -1);

    const UnicodeText borrowed{units.get(), length, sizeof(Unit), false};
    std::string buffer;
    if (has_surrogate) {
        CHECK_THROWS(to_utf8(borrowed, buffer), LoneSurrogate);
    } else {
        CHECK_EQUAL(to_utf8(borrowed, buffer), std::string_view(text));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::Input input(data, size);
    check_width<std::uint8_t>(input.rest());
    check_width<std::uint16_t>(input.rest());
    check_width<std::uint32_t>(input.rest());
    return 0;
}
