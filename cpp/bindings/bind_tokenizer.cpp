#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/tokenizer.hpp"

using namespace nb::literals;
using prunedbpe::Decoder;
using prunedbpe::Dropout;
using prunedbpe::Encoder;

namespace {

using Ids = std::vector<std::uint32_t>;

/// The UTF-8 of a str, held by the str itself; raises UnicodeEncodeError for a lone surrogate.
std::string_view utf8(nb::handle text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    return {data, static_cast<std::size_t>(size)};
}

/// One list without an intermediate array: what a caller of `encode` wants.
nb::list to_list(const Ids& ids) {
    nb::list list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(ids.size())));
    if (!list.is_valid()) throw nb::python_error();
    for (std::size_t i = 0; i < ids.size(); ++i) {
        PyObject* id = PyLong_FromUnsignedLong(ids[i]);
        if (id == nullptr) throw nb::python_error();
        PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), id);
    }
    return list;
}

Ids encode(const Encoder& encoder, nb::str text, double dropout, std::uint64_t seed) {
    const std::string_view bytes = utf8(text);
    Ids ids;
    nb::gil_scoped_release release;  // the caller holds the str, which holds the bytes
    encoder.encode(bytes, {dropout, seed}, ids);
    return ids;
}

}  // namespace

void bind_tokenizer(nb::module_& module) {
    nb::class_<Encoder>(module, "Encoder", "Text to token ids; immutable, shared between threads.")
        .def(
            "__init__",
            [](Encoder* self, PairArray merges, InputArray<std::uint32_t> expansion_ids,
               InputArray<std::int64_t> expansion_offsets, std::string_view pretokenizer) {
                new (self) Encoder(as_merges(merges), {as_span(expansion_ids), as_span(expansion_offsets)},
                                   pretokenizer.empty() ? nullptr : scanner(pretokenizer));
            },
            "merges"_a, "expansion_ids"_a, "expansion_offsets"_a, "pretokenizer"_a)
        .def(
            "encode",
            [](const Encoder& encoder, nb::str text, double dropout, std::uint64_t seed) {
                return to_list(encode(encoder, text, dropout, seed));
            },
            "text"_a, "dropout"_a, "seed"_a, "Token ids as a list.")
        .def(
            "encode_to_array",
            [](const Encoder& encoder, nb::str text, double dropout, std::uint64_t seed) {
                return to_array(encode(encoder, text, dropout, seed));
            },
            "text"_a, "dropout"_a, "seed"_a, "Token ids as an array.")
        .def(
            "encode_chunks",
            [](const Encoder& encoder, InputArray<std::uint8_t> text, InputArray<std::int64_t> ends, double dropout,
               std::uint64_t seed) {
                Ids ids;
                {
                    nb::gil_scoped_release release;
                    encoder.encode_chunks(as_text(text), as_span(ends), {dropout, seed}, ids);
                }
                return to_array(std::move(ids));
            },
            "text"_a, "ends"_a, "dropout"_a, "seed"_a, "Token ids of a text cut by somebody else.")
        .def(
            "encode_batch",
            [](const Encoder& encoder, nb::list texts, double dropout, std::uint64_t seed, unsigned threads) {
                std::vector<std::string_view> views;
                views.reserve(texts.size());
                for (nb::handle text : texts) views.push_back(utf8(text));
                prunedbpe::IdLists lists;
                {
                    nb::gil_scoped_release release;  // the list holds its strings for the whole call
                    lists = encoder.encode_batch(views, {dropout, seed}, threads);
                }
                return nb::make_tuple(to_array(std::move(lists.ids)), to_array(std::move(lists.offsets)));
            },
            "texts"_a, "dropout"_a, "seed"_a, "threads"_a, "Flat token ids of all texts, and offsets.")
        .def(
            "encode_documents",
            [](const Encoder& encoder, InputArray<std::uint8_t> text, SpanArray documents, unsigned threads) {
                prunedbpe::IdLists lists;
                {
                    nb::gil_scoped_release release;
                    std::vector<std::string_view> views;
                    for (const prunedbpe::DocumentSpan& document : as_documents(documents)) {
                        views.push_back(as_text(text).substr(static_cast<std::size_t>(document.begin),
                                                             static_cast<std::size_t>(document.end - document.begin)));
                    }
                    lists = encoder.encode_batch(views, {}, threads);
                }
                return nb::make_tuple(to_array(std::move(lists.ids)), to_array(std::move(lists.offsets)));
            },
            "text"_a, "documents"_a, "threads"_a, "Flat token ids of a batch of documents, and offsets.");
    nb::class_<Decoder>(module, "Decoder", "Token ids to bytes; immutable, shared between threads.")
        .def(
            "__init__",
            [](Decoder* self, InputArray<std::uint8_t> bytes, InputArray<std::int64_t> offsets) {
                new (self) Decoder(as_span(bytes), as_span(offsets));
            },
            "bytes"_a, "offsets"_a)
        .def(
            "decode",
            [](const Decoder& decoder, InputArray<std::uint32_t> ids) {
                std::string text;
                {
                    nb::gil_scoped_release release;
                    text = decoder.decode(as_span(ids));
                }
                return nb::bytes(text.data(), text.size());
            },
            "ids"_a, "The bytes of all tokens, one after the other.");
}
