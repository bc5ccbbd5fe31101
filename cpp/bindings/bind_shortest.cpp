#include <nanobind/stl/string_view.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/shortest.hpp"
#include "texts.hpp"

using namespace nb::literals;
using prunedbpe::ShortestEncoder;

namespace {

using Bytes = InputArray<std::uint8_t>;
using Int64s = InputArray<std::int64_t>;

}  // namespace

void bind_shortest(nb::module_& module) {
    // Inputs are borrowed for the call, the encoder is immutable: the GIL may go during the work.
    nb::class_<ShortestEncoder>(module, "ShortestEncoder",
                                "Text to the fewest visible tokens; immutable, shared between threads.")
        .def(
            "__init__",
            [](ShortestEncoder* self, Bytes strings, Int64s offsets, InputArray<std::uint32_t> ids,
               std::string_view pretokenizer) {
                new (self) ShortestEncoder(as_span(strings), as_span(offsets), as_span(ids),
                                           pretokenizer.empty() ? nullptr : scanner(pretokenizer));
            },
            "strings"_a, "offsets"_a, "ids"_a, "pretokenizer"_a)
        .def(
            "encode",
            [](const ShortestEncoder& encoder, nb::str text) {
                return to_id_array(with_unicode(text, [&](const prunedbpe::UnicodeText& unicode) {
                    prunedbpe::IdBuffer ids;
                    encoder.encode(unicode, ids);
                    return ids;
                }));
            },
            "text"_a, "Token ids of a text.", nb::sig("def encode(self, text: str) -> NDArray[numpy.uint32]"))
        .def(
            "encode_chunks",
            [](const ShortestEncoder& encoder, Bytes text, Int64s ends) {
                prunedbpe::IdBuffer ids;
                {
                    nb::gil_scoped_release release;
                    encoder.encode_chunks(as_text(text), as_span(ends), ids);
                }
                return to_array(std::move(ids));
            },
            "text"_a, "ends"_a, "Token ids of a text cut by somebody else.")
        .def(
            "encode_batch",
            [](const ShortestEncoder& encoder, nb::list texts, unsigned threads) {
                return to_arrays(with_unicode_texts(texts, [&](std::span<const prunedbpe::UnicodeText> views) {
                    return encoder.encode_batch(views, threads);
                }));
            },
            "texts"_a, "threads"_a, "Flat token ids of all texts, and offsets.")
        .def(
            "chunk_lengths",
            [](const ShortestEncoder& encoder, Bytes bytes, Int64s offsets, unsigned threads) {
                std::vector<std::uint32_t> lengths;
                {
                    nb::gil_scoped_release release;
                    // Only the number of counts matters here.
                    const std::span<const std::int64_t> one_each(offsets.data(), offsets.shape(0) - 1);
                    lengths = encoder.chunk_lengths({as_span(bytes), as_span(offsets), one_each, {}}, threads);
                }
                return to_array(std::move(lengths));
            },
            "bytes"_a, "offsets"_a, "threads"_a, "The fewest tokens of every chunk, once each.")
        .def(
            "total_length",
            [](const ShortestEncoder& encoder, Bytes bytes, Int64s offsets, Int64s counts, unsigned threads) {
                nb::gil_scoped_release release;
                return encoder.total_length({as_span(bytes), as_span(offsets), as_span(counts), {}}, threads);
            },
            "bytes"_a, "offsets"_a, "counts"_a, "threads"_a, "The fewest tokens of a corpus.");
}
