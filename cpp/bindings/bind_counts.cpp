#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/counts.hpp"

using namespace nb::literals;
using prunedbpe::ChunkCounter;

namespace {

auto finish(ChunkCounter& counter) {
    prunedbpe::ChunkCounts counts = without_gil([&] { return counter.finish(); });
    return std::tuple(to_array(std::move(counts.bytes)), to_array(std::move(counts.offsets)),
                      to_array(std::move(counts.counts)), to_array(std::move(counts.first_positions)));
}

}  // namespace

void bind_counts(nb::module_& module) {
    // Inputs are borrowed for the call, and a counter has one owner.
    const nb::call_guard<nb::gil_scoped_release> release_gil;
    nb::class_<ChunkCounter>(module, "ChunkCounter", "Collects chunk counts; one owner.")
        .def(nb::init<unsigned>(), "threads"_a)
        .def(
            "add_documents",
            [](ChunkCounter& counter, std::string_view pretokenizer, Bytes text, SpanArray documents) {
                counter.add_documents(scanner(pretokenizer), as_text(text), as_documents(documents));
            },
            "pretokenizer"_a, "text"_a, "documents"_a, release_gil,
            "Cut the documents of a batch and count their chunks.")
        .def(
            "add_chunks",
            [](ChunkCounter& counter, Bytes text, Int64s ends) { counter.add_chunks(as_text(text), as_span(ends)); },
            "text"_a, "ends"_a, release_gil, "Count chunks that the caller has cut: chunk i ends at ends[i].")
        .def(
            "add_counts",
            [](ChunkCounter& counter, Bytes bytes, Int64s offsets, Int64s counts, Int64s first_positions,
               std::int64_t shift) {
                counter.add_counts({as_span(bytes), as_span(offsets), as_span(counts), as_span(first_positions)},
                                   shift);
            },
            "bytes"_a, "offsets"_a, "counts"_a, "first_positions"_a, "shift"_a, release_gil,
            "Add the table of a corpus part that starts `shift` bytes into the corpus.")
        .def_prop_ro("position", &ChunkCounter::position, "Bytes of all documents added so far.")
        .def("finish", &finish, "The table in order of first appearance: bytes, offsets, counts, first positions.");
    module.def(
        "find_wrong_row",
        [](Int64s offsets, Int64s counts, Int64s first_positions) {
            return to_pair(
                prunedbpe::find_wrong_row({{}, as_span(offsets), as_span(counts), as_span(first_positions)}));
        },
        "offsets"_a, "counts"_a, "first_positions"_a,
        "The first invalid row of a table and the name of its invalid column, or None.");
    module.def(
        "count_bytes",
        [](Bytes bytes, Int64s offsets, Int64s counts) {
            return to_array(without_gil(
                [&] { return prunedbpe::count_bytes({as_span(bytes), as_span(offsets), as_span(counts), {}}); }));
        },
        "bytes"_a, "offsets"_a, "counts"_a, "How often each of the 256 bytes occurs in the corpus.");
}
