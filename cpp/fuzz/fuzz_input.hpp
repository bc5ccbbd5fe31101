// What the fuzz targets share. A target is a function from any bytes to CHECKs; an exception that leaves it is a finding.
//
// Inputs are text where possible, so that seeds and findings can be read: fields are lines, numbers are characters.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "prunedbpe/tokenizer.hpp"
#include "prunedbpe/types.hpp"
#include "prunedbpe/vocabulary.hpp"

/// libFuzzer calls this with every input it tries.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzz {

/// Takes fields from the front of an input. After its end, fields are empty and numbers zero.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : left_(reinterpret_cast<const char*>(data), size) {}

    bool at_end() const { return left_.empty(); }
    std::string_view rest() const { return left_; }

    /// A number below `end`; the character '0' gives 0, '1' gives 1 and so on.
    std::size_t number(std::size_t end) {
        if (left_.empty()) return 0;
        const auto value = static_cast<unsigned char>(left_.front() - '0');
        left_.remove_prefix(1);
        return value % end;
    }

    /// Everything up to a line break, which is taken too.
    std::string_view line() {
        const std::string_view found = left_.substr(0, left_.find('\n'));
        left_.remove_prefix(std::min(left_.size(), found.size() + 1));
        return found;
    }

    prunedbpe::NextChunk pretokenizer() {
        constexpr std::array names{"none", "paper", "reference", "gpt2", "cl100k", "o200k", "llama3", "qwen2"};
        return prunedbpe::find_pretokenizer(names[number(names.size())]);
    }

private:
    std::string_view left_;
};

/// A copy that ends where its memory ends, so that the address sanitizer sees a byte too far.
class ExactCopy {
public:
    explicit ExactCopy(std::string_view text) : bytes_(std::make_unique<char[]>(text.size())), size_(text.size()) {
        std::copy(text.begin(), text.end(), bytes_.get());
    }
    std::string_view view() const { return {bytes_.get(), size_}; }

private:
    std::unique_ptr<char[]> bytes_;
    std::size_t size_;
};

inline std::vector<std::uint32_t> as_vector(const prunedbpe::IdBuffer& ids) { return {ids.span().begin(), ids.span().end()}; }

inline std::string decode(const prunedbpe::Decoder& decoder, std::span<const std::uint32_t> ids) {
    const prunedbpe::Decoder::Measured measured = decoder.measure(ids);
    CHECK_EQUAL(measured.unknown, ids.size());
    const auto text = std::make_unique<char[]>(measured.bytes);
    decoder.write(ids, {text.get(), measured.bytes});
    return {text.get(), measured.bytes};
}

}  // namespace fuzz
