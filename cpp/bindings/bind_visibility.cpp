#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/fewest_tokens.hpp"
#include "prunedbpe/visibility.hpp"

using namespace nb::literals;
using prunedbpe::FewestTokens;

void bind_visibility(nb::module_& module) {
    module.def(
        "hide_cheapest",
        [](PairArray merges, Int64s exposure, InputArray<double> weights, double exponent, InputArray<double> price,
           std::size_t count) {
            return to_array(without_gil([&] {
                return prunedbpe::hide_cheapest(as_merges(merges), as_span(exposure), {as_span(weights), exponent},
                                                as_span(price), count);
            }));
        },
        "merges"_a, "exposure"_a, "weights"_a, "exponent"_a, "price"_a, "count"_a,
        "Ranks of the tokens to hide, the cheapest first.");
    module.def(
        "tally_by_source",
        [](UInt32s ids, Int64s offsets, Int64s source_offsets, UInt32s sources, Int64s source_counts,
           std::size_t source_count, std::size_t token_count) {
            return to_array(without_gil([&] {
                return prunedbpe::tally_by_source(
                    {as_span(ids), as_span(offsets)},
                    {as_span(source_offsets), as_span(sources), as_span(source_counts), source_count}, token_count);
            }));
        },
        "ids"_a, "offsets"_a, "source_offsets"_a, "sources"_a, "source_counts"_a, "source_count"_a, "token_count"_a,
        "By token, then by source: its occurrences in a corpus whose chunk i is cut into ids[offsets[i]:offsets[i + 1]].");
    // Safe without the GIL: inputs are borrowed for the call, and the object has one owner.
    const nb::call_guard<LongCall> long_call;
    nb::class_<FewestTokens>(module, "FewestTokens",
                             "The fewest tokens of a corpus under a visible set that changes; one owner.")
        .def(
            "__init__",
            [](FewestTokens* self, Bytes bytes, Int64s offsets, Int64s counts, Int64s source_offsets, UInt32s sources,
               Int64s source_counts, std::size_t source_count, Bytes strings, Int64s string_offsets, unsigned threads) {
                new (self) FewestTokens({as_span(bytes), as_span(offsets), as_span(counts), {}},
                                        {as_span(source_offsets), as_span(sources), as_span(source_counts), source_count},
                                        as_span(strings), as_span(string_offsets), threads);
            },
            "bytes"_a, "offsets"_a, "counts"_a, "source_offsets"_a, "sources"_a, "source_counts"_a, "source_count"_a,
            "strings"_a, "string_offsets"_a, "threads"_a, long_call)
        .def(
            "flip", [](FewestTokens& self, UInt32s ranks) { self.flip(as_span(ranks)); }, "ranks"_a,
            "Show the hidden ones among these tokens and hide the visible ones, once `settle` is done.")
        .def("settle", &FewestTokens::settle, "seconds"_a, nb::call_guard<nb::gil_scoped_release>(),  // resumes later
             "Work on the last flip for about this long; returns whether it is done.")
        .def(
            "losses", [](const FewestTokens& self) { return copy_to_array<std::int64_t>(self.losses()); },
            "By rank, then by source: how many more tokens the corpus has without a visible token.")
        .def(
            "loss_values",
            [](FewestTokens& self, InputArray<double> weights, double exponent) {
                return copy_to_array<double>(self.loss_values({as_span(weights), exponent}));
            },
            "weights"_a, "exponent"_a, "By rank: the sum of weight * loss ^ exponent over the sources.")
        .def(
            "gains", [](const FewestTokens& self) { return to_array(without_gil([&] { return self.gains(); })); },
            "By rank, then by source: how many fewer tokens the corpus has with a hidden token.")
        .def(
            "lengths", [](const FewestTokens& self) { return copy_to_array<std::int64_t>(self.lengths()); },
            "By source: its fewest tokens.")
        .def_prop_ro("memory", &FewestTokens::memory, "Bytes held.");
}
