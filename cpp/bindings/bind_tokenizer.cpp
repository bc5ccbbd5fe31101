#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <memory>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/tokenizer.hpp"
#include "python_ints.hpp"
#include "texts.hpp"

using namespace nb::literals;
using prunedbpe::Decoder;
using prunedbpe::EncodedBatch;
using prunedbpe::IdBuffer;
using prunedbpe::UnicodeText;

namespace {

/// The core's encoder, and the ints that its ids become.
struct Encoder : prunedbpe::Encoder {
    Encoder(std::span<const prunedbpe::Merge> merges, const prunedbpe::IdListsView& expansions,
            prunedbpe::NextChunk next, std::span<const prunedbpe::WholeChunk> whole_chunks)
        : prunedbpe::Encoder(merges, expansions, next, whole_chunks), ints(id_count(expansions.ids, whole_chunks)) {}

    IntObjects ints;

private:
    static std::size_t id_count(std::span<const std::uint32_t> ids, std::span<const prunedbpe::WholeChunk> whole_chunks) {
        std::size_t count = 0;
        for (const std::uint32_t id : ids) count = std::max<std::size_t>(count, id + 1);
        for (const prunedbpe::WholeChunk& chunk : whole_chunks) count = std::max<std::size_t>(count, chunk.id + 1);
        return count;
    }
};

/// Views into the bytes objects.
std::vector<prunedbpe::WholeChunk> as_whole_chunks(const nb::dict& ids) {
    std::vector<prunedbpe::WholeChunk> chunks;
    for (const auto [bytes, id] : ids) {
        const auto chunk = nb::cast<nb::bytes>(bytes);
        chunks.push_back({{chunk.c_str(), chunk.size()}, nb::cast<std::uint32_t>(id)});
    }
    return chunks;
}

IdBuffer encode(const Encoder& encoder, nb::handle text, double dropout, std::uint64_t seed) {
    return with_unicode(text, [&](const UnicodeText& unicode) {
        IdBuffer ids;
        encoder.encode(unicode, {dropout, seed}, ids);
        return ids;
    });
}

void append_lists(Encoder& encoder, const EncodedBatch& batch, nb::list& lists) {
    const GarbageCollectionPause pause;
    for (std::size_t i = 0; i + 1 < batch.offsets.size(); ++i) {
        const auto begin = static_cast<std::size_t>(batch.offsets[i]), end = static_cast<std::size_t>(batch.offsets[i + 1]);
        lists.append(encoder.ints.to_list(batch.ids.span().subspan(begin, end - begin)));
    }
}

/// Making lists needs the GIL and takes up to half as long as encoding. So this thread turns one slice of the batch into
/// lists while others encode the next.
nb::list encode_batch_to_lists(Encoder& encoder, nb::list texts, double dropout, std::uint64_t seed, unsigned threads) {
    const std::vector<UnicodeText> views = as_unicode_texts(texts);
    nb::list lists;
    // One for all slices: the next one is encoded while this thread is not in a call.
    prunedbpe::Interrupt interrupt(signal_handler_raises);
    const auto next = [](prunedbpe::SlicedBatch& slices) {
        const nb::gil_scoped_release release;
        return slices.next();
    };
    try {
        prunedbpe::SlicedBatch slices(encoder, views, {dropout, seed}, threads);
        while (const auto slice = next(slices)) append_lists(encoder, *slice, lists);
    } catch (const prunedbpe::LoneSurrogate& error) {
        raise_surrogate_in(texts, error.text);
    }
    return lists;
}

/// Checks the ids and returns the bytes of their text. `given` is what Python passed, for the error.
std::size_t measure(const Decoder& decoder, std::span<const std::uint32_t> ids, nb::handle given) {
    const auto [bytes, unknown] = decoder.measure(ids);
    if (unknown == ids.size()) return bytes;
    const nb::object id = nb::steal(PySequence_GetItem(given.ptr(), static_cast<Py_ssize_t>(unknown)));
    if (!id.is_valid()) throw nb::python_error();
    throw nb::index_error(("token id " + std::string(nb::str(id).c_str()) + " at place " + std::to_string(unknown) +
                           " is not in the vocabulary of " + std::to_string(decoder.size()))
                              .c_str());
}

/// Decodes into the bytes object itself.
nb::bytes decode_bytes(const Decoder& decoder, std::span<const std::uint32_t> ids, nb::handle given) {
    const std::size_t size = measure(decoder, ids, given);
    nb::bytes bytes = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!bytes.is_valid()) throw nb::python_error();
    char* const text = PyBytes_AS_STRING(bytes.ptr());
    without_gil([&] { decoder.write(ids, {text, size}); });  // no other thread knows the object yet
    return bytes;
}

nb::str decode_text(const Decoder& decoder, std::span<const std::uint32_t> ids, nb::handle given, const char* errors) {
    const std::size_t size = measure(decoder, ids, given);
    const auto text = std::make_unique_for_overwrite<char[]>(size);
    without_gil([&] { decoder.write(ids, {text.get(), size}); });
    PyObject* const str = PyUnicode_DecodeUTF8(text.get(), static_cast<Py_ssize_t>(size), errors);
    if (str == nullptr) throw nb::python_error();
    return nb::steal<nb::str>(str);
}

}  // namespace

void bind_tokenizer(nb::module_& module) {
    nb::class_<Encoder>(module, "Encoder", "Text to token ids; immutable, shared between threads.")
        .def(
            "__init__",
            [](Encoder* self, PairArray merges, UInt32s expansion_ids, Int64s expansion_offsets,
               std::string_view pretokenizer, const nb::dict& whole_chunks) {
                new (self) Encoder(as_merges(merges), {as_span(expansion_ids), as_span(expansion_offsets)},
                                   pretokenizer.empty() ? nullptr : scanner(pretokenizer), as_whole_chunks(whole_chunks));
            },
            "merges"_a, "expansion_ids"_a, "expansion_offsets"_a, "pretokenizer"_a, "whole_chunks"_a = nb::dict())
        .def(
            "encode",
            [](Encoder& encoder, nb::str text) { return encoder.ints.to_list(encode(encoder, text, 0, 0).span()); },
            "text"_a, nb::sig("def encode(self, text: str) -> list[int]"), "Token ids as a list.")
        .def(
            "encode_to_array",
            [](const Encoder& encoder, nb::str text, double dropout, std::uint64_t seed) {
                return to_array(encode(encoder, text, dropout, seed));
            },
            "text"_a, "dropout"_a, "seed"_a, "Token ids as an array.")
        .def(
            "encode_chunks",
            [](const Encoder& encoder, Bytes text, Int64s ends, double dropout, std::uint64_t seed) {
                return to_array(without_gil([&] {
                    IdBuffer ids;
                    encoder.encode_chunks(as_text(text), as_span(ends), {dropout, seed}, ids);
                    return ids;
                }));
            },
            "text"_a, "ends"_a, "dropout"_a, "seed"_a,
            "Token ids of a text that the caller has cut: chunk i ends at ends[i].")
        .def(
            "encode_batch",
            [](const Encoder& encoder, nb::list texts, double dropout, std::uint64_t seed, unsigned threads) {
                return to_arrays(with_unicode_texts(texts, [&](std::span<const UnicodeText> views) {
                    return encoder.encode_batch(views, {dropout, seed}, threads);
                }));
            },
            "texts"_a, "dropout"_a, "seed"_a, "threads"_a, "Flat token ids of all texts, and offsets.")
        .def("encode_batch_to_lists", &encode_batch_to_lists, "texts"_a, "dropout"_a, "seed"_a, "threads"_a,
             nb::sig("def encode_batch_to_lists(self, texts: list, dropout: float, seed: int, threads: int) "
                     "-> list[list[int]]"),
             "Token ids of all texts, a list for each.")
        .def("encode_documents", &encode_documents<Encoder>, "text"_a, "documents"_a, "threads"_a,
             "Flat token ids of a batch of documents, and offsets.");
    nb::class_<Decoder>(module, "Decoder", "Token ids to bytes; immutable, shared between threads.")
        .def(
            "__init__",
            [](Decoder* self, Bytes bytes, Int64s offsets) { new (self) Decoder(as_span(bytes), as_span(offsets)); },
            "bytes"_a, "offsets"_a)
        .def(
            "decode",
            [](const Decoder& decoder, nb::handle ids) { return decode_bytes(decoder, read_ids(ids), ids); }, "ids"_a,
            "The bytes of a list of tokens.")
        .def(
            "decode_array",
            [](const Decoder& decoder, nb::handle ids) {
                return decode_bytes(decoder, as_span(nb::cast<UInt32s>(ids)), ids);
            },
            "ids"_a, "The bytes of an array of tokens.")
        .def(
            "decode_text",
            [](const Decoder& decoder, nb::handle ids, const char* errors) {
                return decode_text(decoder, read_ids(ids), ids, errors);
            },
            "ids"_a, "errors"_a, "The text of a list of tokens.")
        .def(
            "decode_array_text",
            [](const Decoder& decoder, nb::handle ids, const char* errors) {
                return decode_text(decoder, as_span(nb::cast<UInt32s>(ids)), ids, errors);
            },
            "ids"_a, "errors"_a, "The text of an array of tokens.");
}
