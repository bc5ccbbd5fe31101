#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/learn.hpp"

using namespace nb::literals;
using prunedbpe::Learner;

namespace {

template <class T>
OutputArray<T> copy_from(std::span<const T> values, std::size_t begin) {
    return to_array(std::vector<T>(values.begin() + static_cast<std::ptrdiff_t>(begin), values.end()));
}

/// Merges from `begin` on, as (left and right ranks alternating, frequencies, applied).
nb::tuple learned(const Learner& learner, std::size_t begin) {
    std::vector<std::uint32_t> pairs;
    for (const prunedbpe::Merge& merge : learner.merges().subspan(begin)) {
        pairs.push_back(raw(merge.left));
        pairs.push_back(raw(merge.right));
    }
    return nb::make_tuple(to_array(std::move(pairs)), copy_from(learner.frequencies(), begin),
                          copy_from(learner.applied(), begin));
}

}  // namespace

void bind_learn(nb::module_& module) {
    // Inputs are borrowed for the call, a learner has one owner: the GIL may go.
    const nb::call_guard<nb::gil_scoped_release> without_gil;
    nb::class_<Learner>(module, "Learner", "Learns merges step by step; one owner.")
        .def(
            "__init__",
            [](Learner* self, InputArray<std::uint8_t> bytes, InputArray<std::int64_t> offsets,
               InputArray<std::int64_t> counts, PairArray merges, unsigned threads,
               std::size_t parallel_from, std::size_t whole_below) {
                new (self) Learner({as_span(bytes), as_span(offsets), as_span(counts), {}}, as_merges(merges), threads,
                                   parallel_from, whole_below);
            },
            "bytes"_a, "offsets"_a, "counts"_a, "merges"_a, "threads"_a, "parallel_from"_a,
            "whole_below"_a = std::size_t{1} << 20, without_gil)
        .def("advance", &Learner::advance, "merge_count"_a, without_gil,
             "Learn up to this many more merges; returns how many were learned.")
        .def("learned", &learned, "begin"_a,
             "Merges learned from place `begin` on: flat pairs, frequencies, applied.")
        .def_prop_ro("memory", &Learner::memory, "Bytes held by the learner's structures.");
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
