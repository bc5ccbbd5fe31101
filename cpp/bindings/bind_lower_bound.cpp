#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/lower_bound.hpp"

using namespace nb::literals;
using prunedbpe::LowerBound;

void bind_lower_bound(nb::module_& module) {
    module.def(
        "frequent_substrings",
        [](Bytes bytes, Int64s offsets, Int64s counts, std::int64_t least, std::size_t most, unsigned threads) {
            using Arrays = std::tuple<OutputArray<std::uint8_t>, OutputArray<std::int64_t>, OutputArray<std::int64_t>>;
            auto found = without_gil([&] {
                return prunedbpe::frequent_substrings({as_span(bytes), as_span(offsets), as_span(counts), {}}, least, most, threads);
            });
            if (!found) return std::optional<Arrays>();
            return std::optional<Arrays>(std::in_place, to_array(std::move(found->bytes)), to_array(std::move(found->offsets)),
                                         to_array(std::move(found->values)));
        },
        "bytes"_a, "offsets"_a, "counts"_a, "least"_a, "most"_a, "threads"_a,
        "Substrings with frequency * (length - 1) >= least as bytes, offsets and these values; None if there are too many.");
    // Safe without the GIL: inputs are borrowed for the call, and the object has one owner.
    const nb::call_guard<nb::gil_scoped_release> release_gil;
    nb::class_<LowerBound>(module, "LowerBound", "A lower bound on the tokens of any choice of visible tokens; one owner.")
        .def(
            "__init__",
            [](LowerBound* self, Bytes bytes, Int64s offsets, Int64s counts, Bytes strings, Int64s string_offsets,
               std::size_t required, std::int64_t unlisted, unsigned threads) {
                new (self) LowerBound({as_span(bytes), as_span(offsets), as_span(counts), {}}, as_span(strings),
                                      as_span(string_offsets), required, unlisted, threads);
            },
            "bytes"_a, "offsets"_a, "counts"_a, "strings"_a, "string_offsets"_a, "required"_a, "unlisted"_a, "threads"_a,
            release_gil)
        .def("ascend", &LowerBound::ascend, "heat"_a, release_gil, "Take one step towards better multipliers.")
        .def("evaluate", &LowerBound::evaluate, release_gil, "The bound that the present multipliers prove, in 1/unit.")
        .def(
            "multipliers", [](const LowerBound& self) { return copy_to_array<std::uint16_t>(self.multipliers()); },
            "By edge: chunk by chunk, by place, by length.")
        .def(
            "set_multipliers",
            [](LowerBound& self, InputArray<std::uint16_t> multipliers) { self.set_multipliers(as_span(multipliers)); },
            "multipliers"_a, "Replace the multipliers.")
        .def_prop_ro("best", &LowerBound::best, "The best bound so far, in 1/unit.")
        .def_prop_ro("price", &LowerBound::price, "What one more visible token would save, about.")
        .def_prop_ro("memory", &LowerBound::memory, "Bytes held.")
        .def_ro_static("unit", &LowerBound::unit);
}
