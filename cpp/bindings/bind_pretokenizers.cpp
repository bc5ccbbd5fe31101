#include <nanobind/stl/string_view.h>

#include "arrays.hpp"
#include "bindings.hpp"

using namespace nb::literals;

void bind_pretokenizers(nb::module_& module) {
    module.def(
        "chunk_ends",
        [](Bytes text, std::string_view name) {
            const prunedbpe::NextChunk next = scanner(name);
            return to_array(without_gil([&] { return prunedbpe::find_chunk_ends(next, as_text(text)); }));
        },
        "text"_a, "name"_a, "End offset in bytes of every chunk that a built-in pretokenizer cuts from UTF-8 text.");
    module.def("unicode_version", &prunedbpe::unicode_version,
               "Version of the Unicode data that the built-in pretokenizers use.");
    module.def("code_point_flags", [] { return to_array(prunedbpe::code_point_flags()); },
               "Class flags of every code point; unicode_tables.hpp explains them.");
}
