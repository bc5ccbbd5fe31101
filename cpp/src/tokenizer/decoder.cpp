#include <cstring>

#include "prunedbpe/tokenizer.hpp"

namespace prunedbpe {
namespace {

/// Where a long token stands.
struct Place {
    std::uint64_t begin;
    std::uint32_t length;
};

}  // namespace

Decoder::Decoder(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets)
    : tokens_(offsets.size() - 1) {
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
        const std::uint8_t* const begin = bytes.data() + offsets[id];
        const auto length = static_cast<std::size_t>(offsets[id + 1] - offsets[id]);
        Token& token = tokens_[id];
        if (length <= sizeof token.bytes) {
            std::memcpy(token.bytes, begin, length);
            token.length = static_cast<unsigned char>(length);
        } else {
            const Place place{long_bytes_.size(), static_cast<std::uint32_t>(length)};
            static_assert(sizeof place.begin + sizeof place.length <= sizeof token.bytes);
            std::memcpy(token.bytes, &place.begin, sizeof place.begin);
            std::memcpy(token.bytes + sizeof place.begin, &place.length, sizeof place.length);
            token.length = Token::is_long;
            long_bytes_.append(reinterpret_cast<const char*>(begin), length);
        }
    }
}

std::size_t Decoder::decode(std::span<const std::uint32_t> ids, std::string& text) const {
    std::size_t size = text.size();
    std::size_t i = 0;
    while (i < ids.size()) {
        // Room for a few thousand short tokens at once: within it no store needs a check.
        const std::size_t few = std::min<std::size_t>(ids.size() - i, 4096);
        if (text.size() < size + few * sizeof(Token)) text.resize(size + std::max(few * sizeof(Token), text.size() / 2));
        char* out = text.data() + size;
        const std::size_t stop = i + few;
        for (; i < stop; ++i) {
            if (ids[i] >= tokens_.size()) [[unlikely]] {
                text.resize(static_cast<std::size_t>(out - text.data()));
                return i;
            }
            const Token& token = tokens_[ids[i]];
            if (token.length == Token::is_long) [[unlikely]] break;
            std::memcpy(out, &token, sizeof token);  // all of it, the rest is overwritten
            out += token.length;
        }
        size = static_cast<std::size_t>(out - text.data());
        if (i == stop) continue;
        Place place;
        std::memcpy(&place.begin, tokens_[ids[i]].bytes, sizeof place.begin);
        std::memcpy(&place.length, tokens_[ids[i]].bytes + sizeof place.begin, sizeof place.length);
        text.resize(std::max(text.size(), size + place.length));
        std::memcpy(text.data() + size, long_bytes_.data() + place.begin, place.length);
        size += place.length;
        ++i;
    }
    text.resize(size);
    return ids.size();
}

}  // namespace prunedbpe
