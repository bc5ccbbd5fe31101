#include <string_view>

#include "prunedbpe/pretokenize.hpp"
#include "pretokenize/scanners.hpp"

namespace prunedbpe {

NextChunk find_pretokenizer(std::string_view name) {
    if (name == "none") return next_none;
    return nullptr;
}

}  // namespace prunedbpe
