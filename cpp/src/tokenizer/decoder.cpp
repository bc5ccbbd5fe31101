#include <cstring>

#include "prunedbpe/tokenizer.hpp"

namespace prunedbpe {
namespace {

/// Where a long token is in long_bytes_, as Token::bytes holds it.
struct LongToken {
    std::uint64_t begin;
    std::uint32_t length;

    static constexpr std::size_t size = sizeof(begin) + sizeof(length);  // without padding
    static LongToken load(const char* from) {
        LongToken token;
        std::memcpy(&token, from, size);
        return token;
    }
};

}  // namespace

Decoder::Decoder(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets)
    : tokens_(offsets.size() - 1) {
    lengths_.reserve(tokens_.size());
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
        const std::uint8_t* const begin = bytes.data() + offsets[id];
        const auto length = static_cast<std::size_t>(offsets[id + 1] - offsets[id]);
        Token& token = tokens_[id];
        if (length <= sizeof token.bytes) {
            std::memcpy(token.bytes, begin, length);
            token.length = static_cast<unsigned char>(length);
        } else {
            static_assert(LongToken::size <= sizeof token.bytes);
            const LongToken long_token{long_bytes_.size(), static_cast<std::uint32_t>(length)};
            std::memcpy(token.bytes, &long_token, LongToken::size);
            token.length = Token::is_long;
            long_bytes_.append(reinterpret_cast<const char*>(begin), length);
        }
        lengths_.push_back(token.length);
    }
}

Decoder::Measured Decoder::measure(std::span<const std::uint32_t> ids) const {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] >= lengths_.size()) [[unlikely]] return {bytes, i};
        const std::uint8_t length = lengths_[ids[i]];
        bytes += length != Token::is_long ? length : LongToken::load(tokens_[ids[i]].bytes).length;
    }
    return {bytes, ids.size()};
}

void Decoder::write(std::span<const std::uint32_t> ids, std::span<char> text) const {
    char* out = text.data();
    char* const end = out + text.size();
    for (const std::uint32_t id : ids) {
        const Token& token = tokens_[id];
        if (token.length != Token::is_long) [[likely]] {
            // A constant size where there is room: the next token overwrites the excess.
            if (end - out >= static_cast<std::ptrdiff_t>(sizeof token)) [[likely]] {
                std::memcpy(out, &token, sizeof token);
            } else {
                std::memcpy(out, token.bytes, token.length);
            }
            out += token.length;
        } else {
            const LongToken long_token = LongToken::load(token.bytes);
            std::memcpy(out, long_bytes_.data() + long_token.begin, long_token.length);
            out += long_token.length;
        }
    }
}

}  // namespace prunedbpe
