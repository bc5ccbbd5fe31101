#include <string_view>

#include "prunedbpe/pretokenize.hpp"
#include "pretokenize/scanners.hpp"

namespace prunedbpe {

NextChunk find_pretokenizer(std::string_view name) {
    if (name == "paper") return next_paper;
    if (name == "reference") return next_reference;
    if (name == "gpt2") return next_gpt2;
    if (name == "cl100k") return next_cl100k;
    if (name == "o200k") return next_o200k;
    if (name == "none") return next_none;
    return nullptr;
}

}  // namespace prunedbpe
