#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/corpus.hpp"
#include "prunedbpe/huge_array.hpp"

using namespace nb::literals;

void bind_corpus(nb::module_& module) {
    module.def(
        "make_room", [](std::size_t size) { return to_array(prunedbpe::HugeVector<std::uint8_t>(size)); }, "size"_a,
        "Uninitialised memory for a text, in huge pages.");
    module.def(
        "find_invalid_utf8",
        [](Bytes text, unsigned threads) {
            return without_gil([&] { return prunedbpe::find_invalid_utf8(as_text(text), threads); });
        },
        "text"_a, "threads"_a = 1,
        nb::sig("def find_invalid_utf8(text: typing_extensions.Buffer | numpy.typing.NDArray[numpy.uint8], "
                "threads: int = 1) -> int"),
        "Offset of the first sequence that is not UTF-8, or -1.");
    module.def(
        "split_lines",
        [](Bytes text, unsigned threads) {
            return to_array(without_gil([&] { return prunedbpe::split_lines(as_text(text), threads); }));
        },
        "text"_a, "threads"_a = 1,
        nb::sig("def split_lines(text: typing_extensions.Buffer | numpy.typing.NDArray[numpy.uint8], "
                "threads: int = 1) -> numpy.typing.NDArray[numpy.int64]"),
        "Spans of the lines that are not empty, without their terminators: one row begin, end per line.");
}
