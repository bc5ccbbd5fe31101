#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <limits>
#include <optional>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/merges.hpp"

using namespace nb::literals;
using prunedbpe::Learner;

namespace {

auto learned(const Learner& learner) {
    return std::tuple(copy_to_array<prunedbpe::Merge>(learner.merges()),
                      copy_to_array<std::int64_t>(learner.frequencies()),
                      copy_to_array<std::int64_t>(learner.applied()));
}

}  // namespace

void bind_merges(nb::module_& module) {
    // Safe without the GIL: inputs are borrowed for the call, and a learner has one owner.
    const nb::call_guard<LongCall> long_call;
    nb::class_<Learner>(module, "Learner", "Learns merges step by step; one owner.")
        .def(
            "__init__",
            [](Learner* self, Bytes bytes, Int64s offsets, Int64s counts, const std::optional<PairArray>& merges,
               unsigned threads, std::optional<std::size_t> split_from, std::size_t narrow_slots) {
                std::span<const prunedbpe::Merge> known;
                if (merges) known = as_merges(*merges);
                new (self) Learner({as_span(bytes), as_span(offsets), as_span(counts), {}}, known, threads,
                                   split_from, narrow_slots);
            },
            "bytes"_a, "offsets"_a, "counts"_a, "merges"_a.none(), "threads"_a, "split_from"_a.none() = nb::none(),
            "narrow_slots"_a = std::numeric_limits<std::size_t>::max(), long_call,
            "The last two are for tests: when merges are split between threads, and when positions take 64 bits.")
        .def("advance", &Learner::advance, "merge_count"_a, "seconds"_a, long_call,
             "Learn up to this many more merges, or for about this long; returns how many were learned.")
        .def_prop_ro("exhausted", &Learner::is_exhausted, "Whether learning has run out of pairs that occur twice.")
        .def("learned", &learned, "Copies of the merges learned so far: pairs, frequencies, applied.")
        .def_prop_ro("memory", &Learner::memory, "Bytes held by the learner's structures.");
    module.def(
        "find_wrong_merge",
        [](PairArray merges, Int64s frequencies, Int64s applied) {
            return to_pair(prunedbpe::find_wrong_merge(as_merges(merges), as_span(frequencies), as_span(applied)));
        },
        "merges"_a, "frequencies"_a, "applied"_a,
        "The first invalid merge and the name of its invalid part, or None.");
    module.def(
        "replay",
        [](PairArray merges, Bytes bytes, Int64s offsets, Int64s counts, unsigned threads) {
            return to_array(without_gil([&] {
                return prunedbpe::replay(as_merges(merges), {as_span(bytes), as_span(offsets), as_span(counts), {}},
                                         threads);
            }));
        },
        "merges"_a, "bytes"_a, "offsets"_a, "counts"_a, "threads"_a, "How often each merge is applied on a corpus.");
}
