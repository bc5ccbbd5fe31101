#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/merges.hpp"

using namespace nb::literals;
using prunedbpe::Learner;

namespace {

nb::tuple learned(const Learner& learner) {
    return nb::make_tuple(share(learner.merges()), share(learner.frequencies()), share(learner.applied()));
}

}  // namespace

void bind_merges(nb::module_& module) {
    // Inputs are borrowed for the call, a learner has one owner: the GIL may go.
    const nb::call_guard<nb::gil_scoped_release> without_gil;
    nb::class_<Learner>(module, "Learner", "Learns merges step by step; one owner.")
        .def(
            "__init__",
            [](Learner* self, InputArray<std::uint8_t> bytes, InputArray<std::int64_t> offsets,
               InputArray<std::int64_t> counts, const std::optional<PairArray>& merges, unsigned threads,
               std::size_t split_from, bool share_always, std::size_t whole_below) {
                std::span<const prunedbpe::Merge> known;
                if (merges) known = as_merges(*merges);
                new (self) Learner({as_span(bytes), as_span(offsets), as_span(counts), {}}, known, threads,
                                   {split_from, share_always}, whole_below);
            },
            "bytes"_a, "offsets"_a, "counts"_a, "merges"_a.none(), "threads"_a, "split_from"_a,
            "share_always"_a, "whole_below"_a = std::size_t{1} << 20, without_gil)
        .def("advance", &Learner::advance, "merge_count"_a, "seconds"_a, without_gil,
             "Learn up to this many more merges, or for about so long; returns how many were learned.")
        .def_prop_ro("exhausted", &Learner::is_exhausted, "Whether no pair was left that occurs twice.")
        .def("learned", &learned, "The merges learned so far: pairs, frequencies, applied.")
        .def_prop_ro("memory", &Learner::memory, "Bytes held by the learner's structures.");
    module.def(
        "find_wrong_merge",
        [](PairArray merges, InputArray<std::int64_t> frequencies, InputArray<std::int64_t> applied) {
            return to_pair(prunedbpe::find_wrong_merge(as_merges(merges), as_span(frequencies), as_span(applied)));
        },
        "merges"_a, "frequencies"_a, "applied"_a,
        "The first merge that makes no sense and the name of what is wrong with it, or None.");
    module.def(
        "replay",
        [](PairArray merges, InputArray<std::uint8_t> bytes, InputArray<std::int64_t> offsets,
           InputArray<std::int64_t> counts, unsigned threads) {
            std::vector<std::int64_t> applied;
            {
                nb::gil_scoped_release release;
                applied = prunedbpe::replay(as_merges(merges),
                                            {as_span(bytes), as_span(offsets), as_span(counts), {}}, threads);
            }
            return to_array(std::move(applied));
        },
        "merges"_a, "bytes"_a, "offsets"_a, "counts"_a, "threads"_a,
        "How often each merge is applied on a corpus.");
}
