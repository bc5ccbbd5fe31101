#include "prunedbpe/unicode_text.hpp"

#include "util/simd/utf8.hpp"

namespace prunedbpe {
namespace {

template <class Unit>
std::string_view convert(const UnicodeText& text, std::string& buffer) {
    const std::size_t room = simd::utf8_room<Unit>(text.length);
    if (buffer.size() < room) buffer.resize(room);
    const auto* const units = static_cast<const Unit*>(text.units);
    const char* const end = simd::write_utf8(units, units + text.length, buffer.data());
    if (end == nullptr) throw LoneSurrogate();
    return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

}  // namespace

std::string_view to_utf8(const UnicodeText& text, std::string& buffer) {
    if (text.is_utf8) return {static_cast<const char*>(text.units), text.length};
    if (text.width == 1) return convert<std::uint8_t>(text, buffer);
    if (text.width == 2) return convert<std::uint16_t>(text, buffer);
    return convert<std::uint32_t>(text, buffer);
}

}  // namespace prunedbpe
