#include <stdexcept>

#include "prunedbpe/tokenizer.hpp"

namespace prunedbpe {

Decoder::Decoder(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> offsets)
    : bytes_(bytes.begin(), bytes.end()), offsets_(offsets.begin(), offsets.end()) {}

std::string Decoder::decode(std::span<const std::uint32_t> ids) const {
    std::size_t length = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] + std::size_t{1} >= offsets_.size()) {
            throw std::out_of_range("token id " + std::to_string(ids[i]) + " at place " + std::to_string(i) +
                                    " is not in the vocabulary of " + std::to_string(offsets_.size() - 1));
        }
        length += static_cast<std::size_t>(offsets_[ids[i] + 1] - offsets_[ids[i]]);
    }
    std::string text;
    text.reserve(length);
    for (const std::uint32_t id : ids) {
        text.append(bytes_, static_cast<std::size_t>(offsets_[id]),
                    static_cast<std::size_t>(offsets_[id + 1] - offsets_[id]));
    }
    return text;
}

}  // namespace prunedbpe
