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
using prunedbpe::DrainedCounts;

namespace {

auto to_arrays(prunedbpe::ChunkCounts&& counts) {
    return std::tuple(to_array(std::move(counts.bytes)), to_array(std::move(counts.offsets)),
                      to_array(std::move(counts.counts)), to_array(std::move(counts.first_positions)));
}

auto to_arrays(prunedbpe::SourceCounts&& found) {
    return std::tuple(to_arrays(std::move(found.total)), to_array(std::move(found.offsets)),
                      to_array(std::move(found.sources)), to_array(std::move(found.counts)));
}

}  // namespace

void bind_counts(nb::module_& module) {
    // Inputs are borrowed for the call, and a counter has one owner.
    const nb::call_guard<LongCall> long_call;
    nb::class_<ChunkCounter> counter(module, "ChunkCounter", "Collects chunk counts; one owner.");
    counter.attr("MAX_SOURCES") = ChunkCounter::max_sources;
    counter.def(nb::init<unsigned, bool>(), "threads"_a, "by_source"_a = false)
        .def(
            "add_documents",
            [](ChunkCounter& counter, std::string_view pretokenizer, Bytes text, SpanArray documents,
               std::optional<UInt32s> sources) {
                counter.add_documents(scanner(pretokenizer), as_text(text), as_documents(documents),
                                      sources ? as_span(*sources) : std::span<const std::uint32_t>());
            },
            "pretokenizer"_a, "text"_a, "documents"_a, "sources"_a = nb::none(), long_call,
            "Cut the documents of a batch and count their chunks; `sources` holds the source of each document.")
        .def(
            "add_chunks",
            [](ChunkCounter& counter, Bytes text, Int64s ends, std::uint32_t source) {
                counter.add_chunks(as_text(text), as_span(ends), source);
            },
            "text"_a, "ends"_a, "source"_a = 0, long_call, "Count chunks that the caller has cut: chunk i ends at ends[i].")
        .def(
            "add_counts",
            [](ChunkCounter& counter, Bytes bytes, Int64s offsets, Int64s counts, Int64s first_positions,
               std::int64_t shift, std::uint32_t source) {
                counter.add_counts({as_span(bytes), as_span(offsets), as_span(counts), as_span(first_positions)},
                                   shift, source);
            },
            "bytes"_a, "offsets"_a, "counts"_a, "first_positions"_a, "shift"_a, "source"_a = 0, long_call,
            "Add the table of a corpus part that starts `shift` bytes into the corpus.")
        .def(
            "add_source_counts",
            [](ChunkCounter& counter, Bytes bytes, Int64s offsets, Int64s counts, Int64s first_positions,
               Int64s cell_offsets, UInt32s cell_sources, Int64s cell_counts, std::int64_t shift) {
                counter.add_source_counts(
                    {{as_span(bytes), as_span(offsets), as_span(counts), as_span(first_positions)},
                     as_span(cell_offsets),
                     as_span(cell_sources),
                     as_span(cell_counts)},
                    shift);
            },
            "bytes"_a, "offsets"_a, "counts"_a, "first_positions"_a, "cell_offsets"_a, "cell_sources"_a,
            "cell_counts"_a, "shift"_a, long_call, "As add_counts, for a table that is divided by source.")
        .def(
            "regroup", [](ChunkCounter& counter, UInt32s groups) { counter.regroup(as_span(groups)); }, "groups"_a,
            long_call, "Join sources: what was counted for source i now belongs to groups[i].")
        .def_prop_ro("position", &ChunkCounter::position, "Bytes of all documents added so far.")
        .def_prop_ro("memory", &ChunkCounter::memory, "Bytes held.")
        .def("drain", &ChunkCounter::drain, long_call,
             "Take out what was counted, by hash bucket, and leave the counter empty.")
        .def(
            "finish",
            [](ChunkCounter& counter) { return to_arrays(without_gil([&] { return counter.finish(); })); },
            "The table in order of first appearance: bytes, offsets, counts, first positions.")
        .def(
            "finish_by_source",
            [](ChunkCounter& counter) { return to_arrays(without_gil([&] { return counter.finish_by_source(); })); },
            "The table, and a sparse matrix of chunks and sources: offsets, sources, counts.");
    nb::class_<DrainedCounts> drained(module, "DrainedCounts", "Tables taken out of a ChunkCounter.");
    drained.attr("BUCKETS") = DrainedCounts::buckets;
    drained.def(
        "bucket",
        [](const DrainedCounts& drained, std::size_t bucket) {
            return to_arrays(without_gil([&] { return drained.bucket(bucket); }));
        },
        "bucket"_a,
        "The chunks of one hash bucket, as finish_by_source returns them; without cells if not divided by source.");
    module.def(
        "find_wrong_row",
        [](Int64s offsets, Int64s counts, Int64s first_positions) {
            return to_pair(
                prunedbpe::find_wrong_row({{}, as_span(offsets), as_span(counts), as_span(first_positions)}));
        },
        "offsets"_a, "counts"_a, "first_positions"_a,
        "The first invalid row of a table and what is wrong with it, or None.");
    module.def(
        "count_bytes",
        [](Bytes bytes, Int64s offsets, Int64s counts) {
            return to_array(without_gil(
                [&] { return prunedbpe::count_bytes({as_span(bytes), as_span(offsets), as_span(counts), {}}); }));
        },
        "bytes"_a, "offsets"_a, "counts"_a, "How often each of the 256 bytes occurs in the corpus.");
}
