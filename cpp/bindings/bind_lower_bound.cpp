#include <nanobind/stl/tuple.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/lower_bound.hpp"

using namespace nb::literals;
using prunedbpe::LowerBound;

void bind_lower_bound(nb::module_& module) {
    // Safe without the GIL: inputs are borrowed for the call, and the object has one owner.
    const nb::call_guard<LongCall> long_call;
    nb::class_<LowerBound>(module, "LowerBound", "A lower bound on the tokens of any choice of visible tokens; one owner.")
        .def(
            "__init__",
            [](LowerBound* self, Bytes bytes, Int64s offsets, Int64s counts, Bytes strings, Int64s string_offsets,
               std::size_t required, unsigned threads) {
                new (self) LowerBound({as_span(bytes), as_span(offsets), as_span(counts), {}}, as_span(strings),
                                      as_span(string_offsets), required, threads);
            },
            "bytes"_a, "offsets"_a, "counts"_a, "strings"_a, "string_offsets"_a, "required"_a, "threads"_a,
            long_call)
        .def("start_at", &LowerBound::start_at, "price"_a, long_call,
             "Replace the multipliers by those with which every token is worth this many tokens.")
        .def("ascend", &LowerBound::ascend, "heat"_a, long_call, "Take one step towards better multipliers.")
        .def("evaluate", &LowerBound::evaluate, long_call, "The bound that the present multipliers prove, in 1/unit.")
        .def("evaluate_any", &LowerBound::evaluate_any, long_call, "The same if every substring is a candidate.")
        .def(
            "unlisted",
            [](const LowerBound& self, std::size_t most) {
                auto found = without_gil([&] { return self.unlisted(most); });
                return std::tuple(to_array(std::move(found.bytes)), to_array(std::move(found.offsets)));
            },
            "most"_a, "Substrings that would improve `evaluate_any` as candidates, as bytes and offsets.")
        .def(
            "add", [](LowerBound& self, Bytes strings, Int64s offsets) { self.add(as_span(strings), as_span(offsets)); },
            "strings"_a, "string_offsets"_a, "Add candidates.")
        .def(
            "multipliers", [](const LowerBound& self) { return copy_to_array<std::uint16_t>(self.multipliers()); },
            "By edge: chunk by chunk, by place, by length.")
        .def(
            "set_multipliers",
            [](LowerBound& self, InputArray<std::uint16_t> multipliers) { self.set_multipliers(as_span(multipliers)); },
            "multipliers"_a, "Replace the multipliers.")
        .def_prop_ro("best", &LowerBound::best, "The best bound so far, in 1/unit.")
        .def_prop_ro("price", &LowerBound::price, "What one more visible token would save, about.")
        .def_prop_ro("candidate_count", &LowerBound::candidate_count)
        .def_prop_ro("memory", &LowerBound::memory, "Bytes held.")
        .def_ro_static("unit", &LowerBound::unit);
}
