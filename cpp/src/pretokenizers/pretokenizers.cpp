#include "prunedbpe/pretokenizers.hpp"

#include "pretokenizers/scanners.hpp"
#include "pretokenizers/unicode_tables.hpp"

namespace prunedbpe {

NextChunk find_pretokenizer(std::string_view name) {
    if (name == "paper") return next_paper;
    if (name == "reference") return next_reference;
    if (name == "gpt2") return next_gpt2;
    if (name == "cl100k") return next_cl100k;
    if (name == "llama3") return next_llama3;
    if (name == "qwen2") return next_qwen2;
    if (name == "o200k") return next_o200k;
    if (name == "none") return next_none;
    return nullptr;
}

std::vector<std::uint16_t> code_point_flags() {
    constexpr std::size_t code_points = 0x110000;
    std::vector<std::uint16_t> flags(code_points);
    for (std::size_t i = 0; i < code_points; ++i) {
        flags[i] = block_flags[static_cast<std::size_t>(block_index[i >> 8]) << 8 | (i & 0xFF)];
    }
    return flags;
}

std::vector<std::int64_t> find_chunk_ends(NextChunk next, std::string_view text) {
    std::vector<std::int64_t> ends;
    for_each_chunk(next, text, [&](std::string_view chunk) { ends.push_back(chunk.data() + chunk.size() - text.data()); });
    return ends;
}

}  // namespace prunedbpe
