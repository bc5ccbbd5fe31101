#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/huge_array.hpp"
#include "prunedbpe/corpus.hpp"

namespace {

/// Documents laid end to end; the empty ones are left out.
OutputRows<std::int64_t> lay_out(nb::iterable lengths) {
    std::vector<prunedbpe::DocumentSpan> spans;
    std::int64_t end = 0;
    for (const nb::handle length : lengths) {
        const std::int64_t begin = end;
        end += nb::cast<std::int64_t>(length);
        if (end > begin) spans.push_back({begin, end});
    }
    return to_view(std::move(spans));
}

std::int64_t total_length(const SpanArray& documents) {
    std::int64_t total = 0;
    for (const prunedbpe::DocumentSpan& span : as_documents(documents)) total += span.end - span.begin;
    return total;
}

}  // namespace

void bind_corpus(nb::module_& module) {
    module.def(
        "make_room", [](std::size_t size) { return to_view(prunedbpe::HugeVector<std::uint8_t>(size)); },
        nb::arg("size"), nb::sig("def make_room(size: int) -> memoryview"),
        "Memory for a text in huge pages, holding anything.");
    module.def(
        "find_invalid_utf8",
        [](const InputArray<std::uint8_t>& text, unsigned threads) {
            // The array outlives the call, and nobody writes to the text of a corpus.
            nb::gil_scoped_release released;
            return prunedbpe::find_invalid_utf8(as_text(text), threads);
        },
        nb::arg("text"), nb::arg("threads") = 1,
        nb::sig("def find_invalid_utf8(text: typing_extensions.Buffer | numpy.typing.NDArray[numpy.uint8], "
                "threads: int = 1) -> int"),
        "Offset of the first sequence that is not UTF-8, or -1.");
    module.def(
        "split_lines",
        [](const InputArray<std::uint8_t>& text, unsigned threads) {
            prunedbpe::HugeVector<prunedbpe::DocumentSpan> lines;
            {
                nb::gil_scoped_release released;
                lines = prunedbpe::split_lines(as_text(text), threads);
            }
            return to_view(std::move(lines));
        },
        nb::arg("text"), nb::arg("threads") = 1,
        nb::sig("def split_lines(text: typing_extensions.Buffer, threads: int = 1) -> memoryview"),
        "Spans of the lines that are not empty, without their terminators.");
    module.def("lay_out_documents", &lay_out, nb::arg("lengths"),
               "Spans of documents of these lengths laid end to end, without the empty ones.");
    module.def("length_of_documents", &total_length, nb::arg("documents"), "Bytes of all spans together.");
}
