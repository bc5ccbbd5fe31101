#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <future>
#include <memory>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/tokenizer.hpp"
#include "prunedbpe/vocabulary_files.hpp"
#include "python_ints.hpp"
#include "texts.hpp"

using namespace nb::literals;
using prunedbpe::Decoder;
using prunedbpe::IdBuffer;
using prunedbpe::EncodedBatch;
using prunedbpe::UnicodeText;

namespace {

/// The core's encoder, and the ints its ids become.
struct Encoder {
    Encoder(std::span<const prunedbpe::Merge> merges, const prunedbpe::IdListsView& expansions,
            prunedbpe::NextChunk next)
        : core(merges, expansions, next),
          ints(expansions.ids.empty() ? 0 : *std::max_element(expansions.ids.begin(), expansions.ids.end()) + 1) {}

    prunedbpe::Encoder core;
    IntObjects ints;
};

IdBuffer encode(const Encoder& encoder, nb::handle text, double dropout, std::uint64_t seed) {
    return with_unicode(text, [&](const UnicodeText& unicode) {
        IdBuffer ids;
        encoder.core.encode(unicode, {dropout, seed}, ids);
        return ids;
    });
}

EncodedBatch encode_batch(const Encoder& encoder, nb::list texts, double dropout, std::uint64_t seed, unsigned threads) {
    return with_unicode_texts(texts, [&](std::span<const UnicodeText> views) {
        return encoder.core.encode_batch(views, {dropout, seed}, threads);
    });
}

void append_lists(Encoder& encoder, const EncodedBatch& batch, nb::list& lists) {
    const CollectorPause pause;
    for (std::size_t i = 0; i + 1 < batch.offsets.size(); ++i) {
        const auto begin = static_cast<std::size_t>(batch.offsets[i]), end = static_cast<std::size_t>(batch.offsets[i + 1]);
        lists.append(encoder.ints.to_list(batch.ids.span().subspan(begin, end - begin)));
    }
}

/// Lists are made by one thread, which holds the GIL, and that takes up to half as long as the encoding. So a large
/// batch is encoded in slices: while one becomes lists, other threads encode the next.
nb::list encode_batch_to_lists(Encoder& encoder, nb::list texts, double dropout, std::uint64_t seed, unsigned threads) {
    constexpr std::size_t slice_length = 1 << 21;  // shorter ones take more time to start their threads than they gain
    const std::vector<UnicodeText> views = as_unicode_texts(texts);
    const auto encode_slice = [&](std::size_t begin) {
        std::size_t end = begin;
        for (std::size_t length = 0; end < views.size() && length < slice_length; ++end) length += views[end].length;
        // With one thread this one encodes, too, when it asks for the result.
        const auto policy = threads == 1 ? std::launch::deferred : std::launch::async;
        return std::async(policy, [&, begin, end] {
            return encoder.core.encode_batch({views.data() + begin, end - begin}, {dropout, seed + begin}, threads);
        });
    };
    nb::list lists;
    std::future<EncodedBatch> running = encode_slice(0);
    while (lists.size() < views.size()) {
        const std::size_t begin = lists.size();
        EncodedBatch batch;
        try {
            nb::gil_scoped_release release;  // the list of texts is the caller's alone and holds its strs
            batch = running.get();
        } catch (const prunedbpe::LoneSurrogate& error) {
            raise_surrogate_in(texts, begin + error.text);
        }
        const std::size_t end = begin + batch.offsets.size() - 1;
        if (end < views.size()) running = encode_slice(end);
        append_lists(encoder, batch, lists);
    }
    return lists;
}

[[noreturn]] void raise_unknown_id(nb::handle id, std::size_t place, const Decoder& decoder) {
    throw nb::index_error(("token id " + std::string(nb::str(id).c_str()) + " at place " + std::to_string(place) +
                           " is not in the vocabulary of " + std::to_string(decoder.size()))
                              .c_str());
}

/// Token ids out of a list, a tuple or another sequence of ints; ids that cannot be are no_token_id.
std::vector<std::uint32_t> read_ids(nb::handle sequence) {
    const nb::object fast = nb::steal(PySequence_Fast(sequence.ptr(), "they must be a sequence"));
    if (!fast.is_valid()) throw nb::python_error();
    std::vector<std::uint32_t> ids(static_cast<std::size_t>(PySequence_Fast_GET_SIZE(fast.ptr())));
    for (std::size_t i = 0; i < ids.size(); ++i) {
        // Asked for each time: turning one that is no int into an id runs code that may change the list.
        if (i >= static_cast<std::size_t>(PySequence_Fast_GET_SIZE(fast.ptr()))) {
            throw nb::value_error("the list of ids changed while it was read");
        }
        ids[i] = read_token_id(PySequence_Fast_GET_ITEM(fast.ptr(), static_cast<Py_ssize_t>(i)));
    }
    return ids;
}

std::size_t measure(const Decoder& decoder, std::span<const std::uint32_t> ids, nb::handle given) {
    const Decoder::Measured measured = decoder.measure(ids);
    if (measured.bad_place < ids.size()) {
        const nb::object id = nb::steal(PySequence_GetItem(given.ptr(), static_cast<Py_ssize_t>(measured.bad_place)));
        if (!id.is_valid()) throw nb::python_error();
        raise_unknown_id(id, measured.bad_place, decoder);
    }
    return measured.bytes;
}

/// The bytes are written where they stay.
nb::bytes decode_bytes(const Decoder& decoder, std::span<const std::uint32_t> ids, nb::handle given) {
    const std::size_t size = measure(decoder, ids, given);
    nb::bytes bytes = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!bytes.is_valid()) throw nb::python_error();
    char* const text = PyBytes_AS_STRING(bytes.ptr());
    nb::gil_scoped_release release;  // nobody else knows the bytes yet
    decoder.write(ids, {text, size});
    return bytes;
}

nb::object decode_text(const Decoder& decoder, std::span<const std::uint32_t> ids, nb::handle given,
                       const char* errors) {
    const std::size_t size = measure(decoder, ids, given);
    const auto text = std::make_unique_for_overwrite<char[]>(size);
    {
        nb::gil_scoped_release release;
        decoder.write(ids, {text.get(), size});
    }
    PyObject* const str = PyUnicode_DecodeUTF8(text.get(), static_cast<Py_ssize_t>(size), errors);
    if (str == nullptr) throw nb::python_error();
    return nb::steal(str);
}

}  // namespace

void bind_tokenizer(nb::module_& module) {
    module.def(
        "find_unreachable",
        [](PairArray merges) {
            nb::gil_scoped_release release;
            return prunedbpe::find_unreachable(as_merges(merges));
        },
        "merges"_a, "The lowest rank whose own bytes do not merge into it, or None.");
    module.def(
        "find_late_part", [](PairArray merges) { return prunedbpe::find_late_part(as_merges(merges)); }, "merges"_a,
        "Place of the first merge with a part that is not made before it, or None.");
    module.def(
        "read_vocabulary",
        [](nb::bytes visible_file, nb::bytes internal_file) -> nb::object {
            std::optional<prunedbpe::VocabularyFiles> files;
            {
                nb::gil_scoped_release release;
                files = prunedbpe::read_vocabulary({visible_file.c_str(), visible_file.size()},
                                                   {internal_file.c_str(), internal_file.size()});
            }
            if (!files) return nb::none();
            nb::list special_tokens;
            for (const std::string& token : files->special_tokens) {
                special_tokens.append(nb::bytes(token.data(), token.size()));
            }
            return nb::make_tuple(to_view(std::move(files->merges)),
                                  hand_over<OutputView<bool>>(std::move(files->visible)), special_tokens);
        },
        "visible_file"_a, "internal_file"_a,
        "Merges, visibility and special tokens of two vocabulary files, or None where anything is unusual.");
    module.def(
        "write_vocabulary",
        [](PairArray merges, InputArray<bool> visible, const std::vector<nb::bytes>& special_tokens) {
            std::vector<std::string_view> tokens;
            for (const nb::bytes& token : special_tokens) tokens.emplace_back(token.c_str(), token.size());
            prunedbpe::WrittenVocabulary files;
            {
                nb::gil_scoped_release release;  // the caller holds the tokens
                files = prunedbpe::write_vocabulary(as_merges(merges), as_span(visible), tokens, [](char32_t c) {
                    return Py_UNICODE_ISPRINTABLE(c) != 0;
                });
            }
            return nb::make_tuple(to_view(std::move(files.visible_file)), to_view(std::move(files.internal_file)));
        },
        "merges"_a, "visible"_a, "special_tokens"_a, "Two vocabulary files, as bytes.");
    module.def(
        "spell",
        [](PairArray merges) {
            prunedbpe::Spelled spelled;
            {
                nb::gil_scoped_release release;
                spelled = prunedbpe::spell(as_merges(merges));
            }
            return nb::make_tuple(to_view(std::move(spelled.bytes)), to_view(std::move(spelled.offsets)));
        },
        "merges"_a, "The bytes of every rank, flat, and offsets.");
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
            [](Encoder& encoder, nb::str text) { return encoder.ints.to_list(encode(encoder, text, 0, 0).span()); },
            "text"_a, "Token ids as a list.")
        .def(
            "encode_to_array",
            [](const Encoder& encoder, nb::str text, double dropout, std::uint64_t seed) {
                return to_id_array(encode(encoder, text, dropout, seed));
            },
            "text"_a, "dropout"_a, "seed"_a, "Token ids as an array.",
            nb::sig("def encode_to_array(self, text: str, dropout: float, seed: int) -> NDArray[numpy.uint32]"))
        .def(
            "encode_chunks",
            [](const Encoder& encoder, InputArray<std::uint8_t> text, InputArray<std::int64_t> ends, double dropout,
               std::uint64_t seed) {
                IdBuffer ids;
                {
                    nb::gil_scoped_release release;
                    encoder.core.encode_chunks(as_text(text), as_span(ends), {dropout, seed}, ids);
                }
                return to_array(std::move(ids));
            },
            "text"_a, "ends"_a, "dropout"_a, "seed"_a, "Token ids of a text cut by somebody else.")
        .def(
            "encode_batch",
            [](const Encoder& encoder, nb::list texts, double dropout, std::uint64_t seed, unsigned threads) {
                return to_arrays(encode_batch(encoder, texts, dropout, seed, threads));
            },
            "texts"_a, "dropout"_a, "seed"_a, "threads"_a, "Flat token ids of all texts, and offsets.")
        .def(
            "encode_batch_to_lists", &encode_batch_to_lists, "texts"_a, "dropout"_a, "seed"_a, "threads"_a,
            "Token ids of all texts, a list for each.")
        .def(
            "encode_documents",
            [](const Encoder& encoder, InputArray<std::uint8_t> text, SpanArray documents, unsigned threads) {
                EncodedBatch lists;
                {
                    nb::gil_scoped_release release;
                    std::vector<UnicodeText> views;
                    for (const prunedbpe::DocumentSpan& document : as_documents(documents)) {
                        views.push_back(UnicodeText::utf8(
                            as_text(text).substr(static_cast<std::size_t>(document.begin),
                                                 static_cast<std::size_t>(document.end - document.begin))));
                    }
                    lists = encoder.core.encode_batch(views, {}, threads);
                }
                return to_arrays(std::move(lists));
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
            [](const Decoder& decoder, nb::handle ids) { return decode_bytes(decoder, read_ids(ids), ids); }, "ids"_a,
            "The bytes of a list of tokens, one after the other.")
        .def(
            "decode_array",
            [](const Decoder& decoder, nb::handle ids) {
                return decode_bytes(decoder, as_span(nb::cast<InputArray<std::uint32_t>>(ids)), ids);
            },
            "ids"_a, "The bytes of an array of tokens, one after the other.")
        .def(
            "decode_text",
            [](const Decoder& decoder, nb::handle ids, const char* errors) {
                return decode_text(decoder, read_ids(ids), ids, errors);
            },
            "ids"_a, "errors"_a, "The same as text.", nb::sig("def decode_text(self, ids: object, errors: str) -> str"))
        .def(
            "decode_array_text",
            [](const Decoder& decoder, nb::handle ids, const char* errors) {
                return decode_text(decoder, as_span(nb::cast<InputArray<std::uint32_t>>(ids)), ids, errors);
            },
            "ids"_a, "errors"_a, "The same as text.",
            nb::sig("def decode_array_text(self, ids: object, errors: str) -> str"));
}
