#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/pretokenizers.hpp"

using namespace nanobind::literals;

namespace {

OutputArray<std::int64_t> chunk_ends(const InputArray<std::uint8_t>& text, std::string_view name) {
    const prunedbpe::NextChunk next = prunedbpe::find_pretokenizer(name);
    if (!next) throw std::invalid_argument("no pretokenizer named '" + std::string(name) + "'");
    std::vector<std::int64_t> ends;
    {
        // Safe without the GIL: the caller keeps the array alive, and only its bytes are read.
        const nb::gil_scoped_release release;
        std::int64_t at = 0;
        prunedbpe::for_each_chunk(next, as_text(text), [&](std::string_view chunk) {
            at += static_cast<std::int64_t>(chunk.size());
            ends.push_back(at);
        });
    }
    return to_array(std::move(ends));
}

}  // namespace

void bind_pretokenizers(nb::module_& module) {
    module.def("chunk_ends", &chunk_ends, "text"_a, "name"_a,
               "End offset in bytes of every chunk that a built-in pretokenizer cuts from UTF-8 text.");
    module.def("unicode_version", [] { return std::string(prunedbpe::unicode_version()); },
               "Version of the Unicode data behind the built-in pretokenizers.");
    module.def("code_point_flags", [] { return to_array(prunedbpe::code_point_flags()); },
               "Class flags of every code point, as unicode_tables.hpp explains them.");
}
