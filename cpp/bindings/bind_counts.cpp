#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/counts.hpp"

using namespace nb::literals;
using prunedbpe::ChunkCounter;

namespace {

nb::tuple finish(ChunkCounter& counter) {
    prunedbpe::ChunkCounts counts;
    {
        nb::gil_scoped_release release;  // touches only the counter's own tables
        counts = counter.finish();
    }
    return nb::make_tuple(to_view(std::move(counts.bytes)), to_view(std::move(counts.offsets)),
                          to_view(std::move(counts.counts)), to_view(std::move(counts.first_positions)));
}

OutputView<std::int64_t> count_bytes(InputArray<std::uint8_t> bytes, InputArray<std::int64_t> offsets,
                                     InputArray<std::int64_t> counts) {
    std::vector<std::int64_t> totals;
    {
        nb::gil_scoped_release release;  // the borrowed arrays live as long as the call
        totals = prunedbpe::count_bytes({as_span(bytes), as_span(offsets), as_span(counts), {}});
    }
    return to_view(std::move(totals));
}

}  // namespace

void bind_counts(nb::module_& module) {
    // The borrowed arrays live as long as the call, so the GIL may go.
    const nb::call_guard<nb::gil_scoped_release> without_gil;
    nb::class_<ChunkCounter>(module, "ChunkCounter", "Collects chunk counts; one owner.")
        .def(nb::init<unsigned>(), "threads"_a)
        .def(
            "add_documents",
            [](ChunkCounter& counter, std::string_view pretokenizer, InputArray<std::uint8_t> text,
               SpanArray documents) {
                counter.add_documents(scanner(pretokenizer), as_text(text), as_documents(documents));
            },
            "pretokenizer"_a, "text"_a, "documents"_a, without_gil,
            "Cut the documents of a batch and count their chunks.")
        .def(
            "add_chunks",
            [](ChunkCounter& counter, InputArray<std::uint8_t> text, InputArray<std::int64_t> ends) {
                counter.add_chunks(as_text(text), as_span(ends));
            },
            "text"_a, "ends"_a, without_gil, "Count chunks cut by somebody else.")
        .def(
            "add_counts",
            [](ChunkCounter& counter, InputArray<std::uint8_t> bytes, InputArray<std::int64_t> offsets,
               InputArray<std::int64_t> counts, InputArray<std::int64_t> first_positions, std::int64_t shift) {
                counter.add_counts({as_span(bytes), as_span(offsets), as_span(counts), as_span(first_positions)},
                                   shift);
            },
            "bytes"_a, "offsets"_a, "counts"_a, "first_positions"_a, "shift"_a, without_gil,
            "Add the table of a corpus part that starts `shift` bytes into the corpus.")
        .def_prop_ro("position", &ChunkCounter::position, "Bytes of all documents added so far.")
        .def("finish", &finish,
             "The table in order of first appearance: bytes, offsets, counts, first positions.");
    module.def(
        "find_wrong_row",
        [](InputArray<std::int64_t> offsets, InputArray<std::int64_t> counts,
           InputArray<std::int64_t> first_positions) {
            return to_pair(
                prunedbpe::find_wrong_row({{}, as_span(offsets), as_span(counts), as_span(first_positions)}));
        },
        "offsets"_a, "counts"_a, "first_positions"_a,
        "The first row of a table that makes no sense and the name of what is wrong with it, or None.");
    module.def("count_bytes", &count_bytes, "bytes"_a, "offsets"_a, "counts"_a,
               "How often each of the 256 bytes occurs in the corpus.");
}
