// Python strs as the core takes them, and ids as they return.
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "prunedbpe/tokenizer.hpp"

/// Borrows the characters of a str. A str never changes, so they may be read without the GIL while the caller holds it.
inline prunedbpe::UnicodeText as_unicode(nb::handle text) {
    if (!PyUnicode_Check(text.ptr())) {
        throw nb::type_error(("text must be str, not " + std::string(Py_TYPE(text.ptr())->tp_name)).c_str());
    }
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(text.ptr()) != 0) throw nb::python_error();
#endif
    return {PyUnicode_DATA(text.ptr()), static_cast<std::size_t>(PyUnicode_GET_LENGTH(text.ptr())),
            static_cast<int>(PyUnicode_KIND(text.ptr())), PyUnicode_IS_ASCII(text.ptr()) != 0};
}

inline std::vector<prunedbpe::UnicodeText> as_unicode_texts(nb::list texts) {
    std::vector<prunedbpe::UnicodeText> views;
    views.reserve(texts.size());
    for (nb::handle text : texts) views.push_back(as_unicode(text));
    return views;
}

/// Raises Python's own UnicodeEncodeError for a str with a lone surrogate.
[[noreturn]] inline void raise_surrogate(nb::handle text) {
    Py_ssize_t size = 0;
    if (PyUnicode_AsUTF8AndSize(text.ptr(), &size) != nullptr) throw std::logic_error("there is no surrogate");
    throw nb::python_error();
}

[[noreturn]] inline void raise_surrogate_in(nb::list texts, std::size_t index) {
    raise_surrogate(nb::handle(PyList_GET_ITEM(texts.ptr(), static_cast<Py_ssize_t>(index))));
}

/// Runs `work` on a text without the GIL; the caller holds the str.
template <class Work>
auto with_unicode(nb::handle text, Work&& work) {
    const prunedbpe::UnicodeText unicode = as_unicode(text);
    try {
        return without_gil([&] { return work(unicode); });
    } catch (const prunedbpe::LoneSurrogate&) {
        raise_surrogate(text);
    }
}

/// The same for many texts; only the caller uses the list, which holds its strs.
template <class Work>
auto with_unicode_texts(nb::list texts, Work&& work) {
    const std::vector<prunedbpe::UnicodeText> views = as_unicode_texts(texts);
    try {
        return without_gil([&] { return work(std::span<const prunedbpe::UnicodeText>(views)); });
    } catch (const prunedbpe::LoneSurrogate& error) {
        raise_surrogate_in(texts, error.text);
    }
}

inline auto to_arrays(prunedbpe::EncodedBatch&& batch) {
    return std::pair(to_array(std::move(batch.ids)), to_array(std::move(batch.offsets)));
}

template <class AnyEncoder>
auto encode_documents(const AnyEncoder& encoder, Bytes text, SpanArray documents, unsigned threads) {
    return to_arrays(
        without_gil([&] { return encoder.encode_documents(as_text(text), as_documents(documents), threads); }));
}
