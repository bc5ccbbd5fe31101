#include <string>
#include <vector>

#include "check.hpp"
#include "util/simd/sixteen_bytes.hpp"
#include "util/simd/utf8.hpp"

using namespace prunedbpe;

namespace {

/// `answer` is about one byte, `question` about sixteen.
template <class Bytes, class Question, class Answer>
void check_bytes(const std::string& text, Question&& question, Answer&& answer) {
    const std::uint64_t bits = question(Bytes(text.data())).bits();
    for (std::size_t i = 0; i < 16; ++i) {
        CHECK_EQUAL(bits >> i & 1, std::uint64_t{answer(static_cast<unsigned char>(text[i]))});
    }
    CHECK_EQUAL(bits >> 16, std::uint64_t{0});
}

template <class Bytes>
void check_sixteen_bytes() {
    check::Random random(70);
    for (int round = 0; round < 3000; ++round) {
        std::string text(16, ' '), other(16, ' ');
        for (std::size_t i = 0; i < 16; ++i) {
            text[i] = static_cast<char>(random.below(256));
            other[i] = random.below(2) == 0 ? text[i] : static_cast<char>(random.below(256));
        }
        const int byte = static_cast<unsigned char>(text[0]), first = static_cast<int>(random.below(256));
        const int count = 1 + static_cast<int>(random.below(128)), high = 128 + static_cast<int>(random.below(128));
        const auto is_in = [=](int c) { return ((c - first) & 0xFF) < count; };
        check_bytes<Bytes>(text, [](Bytes b) { return b.is_outside_ascii(); }, [](int c) { return c >= 128; });
        check_bytes<Bytes>(text, [=](Bytes b) { return b.is(byte); }, [=](int c) { return c == byte; });
        check_bytes<Bytes>(text, [=](Bytes b) { return b.in(first, count); }, is_in);
        check_bytes<Bytes>(text, [=](Bytes b) { return b.from(high); }, [=](int c) { return c >= high; });
        check_bytes<Bytes>(text, [=](Bytes b) { return b.lower_case().is('a'); }, [](int c) { return (c | 0x20) == 'a'; });
        check_bytes<Bytes>(text, [=](Bytes b) { return b.is(byte) | b.in(first, count); },
                           [=](int c) { return c == byte || is_in(c); });
        check_bytes<Bytes>(text, [=](Bytes b) { return b.in(first, count).and_not(b.is(byte)); },
                           [=](int c) { return c != byte && is_in(c); });
        const std::uint64_t same = (Bytes(text.data()).equals(Bytes(other.data()))).bits();
        for (std::size_t i = 0; i < 16; ++i) CHECK_EQUAL(same >> i & 1, std::uint64_t{text[i] == other[i]});
    }
}

/// Plain UTF-8, character by character; empty for a surrogate.
template <class Unit>
std::string encode_plainly(const std::vector<Unit>& units) {
    std::string text;
    for (const std::uint32_t c : units) {
        if (c < 0x80) {
            text += static_cast<char>(c);
        } else if (c < 0x800) {
            text += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
        } else if (c < 0x10000) {
            if (c >= 0xD800 && c < 0xE000) return {};
            text += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
        } else {
            text += {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 63)),
                     static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
        }
    }
    return text;
}

template <class Unit>
void check_utf8(check::Random& random, std::uint32_t limit, simd::Level level) {
    for (int round = 0; round < 3000; ++round) {
        std::vector<Unit> units(1 + random.below(80));
        for (Unit& unit : units) {
            auto c = static_cast<std::uint32_t>(random.below(random.below(3) == 0 ? limit : 0x80));
            if (c >= 0xD800 && c < 0xE000 && round % 100 != 0) c = 'x';
            unit = static_cast<Unit>(c);
        }
        std::string out(simd::utf8_room<Unit>(units.size()), '?');
        char* const end = simd::write_utf8(units.data(), units.data() + units.size(), out.data(), level);
        CHECK_EQUAL(end == nullptr ? std::string() : std::string(out.data(), end), encode_plainly(units));
    }
}

}  // namespace

CASE("sixteen bytes: SSE2 and portable") {
    check_sixteen_bytes<simd::portable::SixteenBytes>();
    check_sixteen_bytes<SixteenBytes>();
}

CASE("UTF-8 from characters: portable and AVX2") {
    for (const simd::Level level : {simd::Level::portable, simd::best_level()}) {
        check::Random random(71);
        check_utf8<std::uint8_t>(random, 0x100, level);
        check_utf8<std::uint16_t>(random, 0x10000, level);
        check_utf8<std::uint32_t>(random, 0x110000, level);
    }
}

CASE("UTF-8 from characters: blocks of sixteen, SSE2 and portable") {
    check::Random random(72);
    const auto check = [&]<class Unit>(Unit, std::uint32_t limit) {
        for (int round = 0; round < 1000; ++round) {
            Unit units[16];
            for (Unit& unit : units) unit = static_cast<Unit>(random.below(random.below(3) == 0 ? limit : 0x80));
            char ours[16], plain[16];
            const std::uint32_t outside = simd::copy_sixteen(units, ours);
            CHECK_EQUAL(outside, simd::portable::copy_sixteen(units, plain));
            for (std::size_t i = 0; i < 16; ++i) CHECK((outside >> i & 1) != 0 || ours[i] == plain[i]);
        }
    };
    check(std::uint8_t{}, 0x100);
    check(std::uint16_t{}, 0x10000);
    check(std::uint32_t{}, 0x110000);
}
