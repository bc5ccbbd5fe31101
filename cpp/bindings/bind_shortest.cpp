#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/shortest.hpp"
#include "python_ints.hpp"
#include "texts.hpp"

using namespace nb::literals;
using prunedbpe::IdBuffer;
using prunedbpe::UnicodeText;

namespace {

/// The core's encoder, and the ints that its ids become.
struct ShortestEncoder : prunedbpe::ShortestEncoder {
    ShortestEncoder(std::span<const std::uint8_t> strings, std::span<const std::int64_t> offsets,
                    std::span<const std::uint32_t> ids, prunedbpe::NextChunk next)
        : prunedbpe::ShortestEncoder(strings, offsets, ids, next),
          ints(ids.empty() ? 0 : *std::max_element(ids.begin(), ids.end()) + 1) {}

    IntObjects ints;
};

IdBuffer encode(const ShortestEncoder& encoder, nb::handle text) {
    return with_unicode(text, [&](const UnicodeText& unicode) {
        IdBuffer ids;
        encoder.encode(unicode, ids);
        return ids;
    });
}

}  // namespace

void bind_shortest(nb::module_& module) {
    nb::class_<ShortestEncoder>(module, "ShortestEncoder",
                                "Text to the fewest visible tokens; immutable, shared between threads.")
        .def(
            "__init__",
            [](ShortestEncoder* self, Bytes strings, Int64s offsets, UInt32s ids, std::string_view pretokenizer) {
                new (self) ShortestEncoder(as_span(strings), as_span(offsets), as_span(ids),
                                           pretokenizer.empty() ? nullptr : scanner(pretokenizer));
            },
            "strings"_a, "offsets"_a, "ids"_a, "pretokenizer"_a)
        .def(
            "encode",
            [](ShortestEncoder& encoder, nb::str text) { return encoder.ints.to_list(encode(encoder, text).span()); },
            "text"_a, nb::sig("def encode(self, text: str) -> list[int]"), "Token ids as a list.")
        .def(
            "encode_to_array",
            [](const ShortestEncoder& encoder, nb::str text) { return to_array(encode(encoder, text)); }, "text"_a,
            "Token ids as an array.")
        .def(
            "encode_chunks",
            [](const ShortestEncoder& encoder, Bytes text, Int64s ends) {
                return to_array(without_gil([&] {
                    IdBuffer ids;
                    encoder.encode_chunks(as_text(text), as_span(ends), ids);
                    return ids;
                }));
            },
            "text"_a, "ends"_a, "Token ids of a text that the caller has cut: chunk i ends at ends[i].")
        .def(
            "encode_batch",
            [](const ShortestEncoder& encoder, nb::list texts, unsigned threads) {
                return to_arrays(with_unicode_texts(texts, [&](std::span<const UnicodeText> views) {
                    return encoder.encode_batch(views, threads);
                }));
            },
            "texts"_a, "threads"_a, "Flat token ids of all texts, and offsets.")
        .def("encode_documents", &encode_documents<ShortestEncoder>, "text"_a, "documents"_a, "threads"_a,
             "Flat token ids of a batch of documents, and offsets.")
        .def(
            "chunk_lengths",
            [](const ShortestEncoder& encoder, Bytes bytes, Int64s offsets, unsigned threads) {
                // Only the number of counts matters here.
                const std::span<const std::int64_t> any_counts = as_span(offsets).subspan(1);
                return to_array(without_gil([&] {
                    return encoder.chunk_lengths({as_span(bytes), as_span(offsets), any_counts, {}}, threads);
                }));
            },
            "bytes"_a, "offsets"_a, "threads"_a, "The fewest tokens of every chunk, each counted once.")
        .def(
            "total_length",
            [](const ShortestEncoder& encoder, Bytes bytes, Int64s offsets, Int64s counts, unsigned threads) {
                return without_gil([&] {
                    return encoder.total_length({as_span(bytes), as_span(offsets), as_span(counts), {}}, threads);
                });
            },
            "bytes"_a, "offsets"_a, "counts"_a, "threads"_a, "The fewest tokens of a corpus.")
        .def(
            "token_counts",
            [](const ShortestEncoder& encoder, Bytes bytes, Int64s offsets, Int64s counts, unsigned threads) {
                return to_array(without_gil([&] {
                    return encoder.token_counts({as_span(bytes), as_span(offsets), as_span(counts), {}}, threads);
                }));
            },
            "bytes"_a, "offsets"_a, "counts"_a, "threads"_a, "How often each token id stands in a corpus.");
}
