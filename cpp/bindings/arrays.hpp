// The one way results leave the core: a vector moves into an array or a memoryview that owns it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prunedbpe/id_buffer.hpp"
#include "prunedbpe/pretokenizers.hpp"
#include "prunedbpe/types.hpp"

namespace nb = nanobind;

template <class T>
using InputArray = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using PairArray = nb::ndarray<const std::uint32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using SpanArray = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

template <class T>
using OutputArray = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

/// Memoryviews. Making one does not import NumPy, so results that mostly go on to native code leave this way.
template <class T>
using OutputView = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using OutputRows = nb::ndarray<nb::numpy, T, nb::shape<-1, 2>>;

/// Rows of one or two numbers, as `Output` shows them, in memory that `holder` holds: it lives as long as the result.
/// Needs the GIL: it creates Python objects.
template <class Output, class Row, class Holder>
Output show(Row* rows, std::size_t size, Holder&& holder) {
    using Number = typename Output::Scalar;
    nb::capsule owner(new Holder(std::move(holder)), [](void* p) noexcept { delete static_cast<Holder*>(p); });
    const std::size_t shape[] = {size, 2};
    return Output(reinterpret_cast<Number*>(rows), sizeof(Row) / sizeof(Number), shape, owner);
}

template <class Output, class Row, class Allocator>
Output hand_over(std::vector<Row, Allocator>&& rows) {
    // Where the rows are stays the same when the vector is moved.
    return show<Output>(rows.data(), rows.size(), std::move(rows));
}

template <class T, class Allocator>
OutputArray<T> to_array(std::vector<T, Allocator>&& values) {
    return hand_over<OutputArray<T>>(std::move(values));
}

template <class T, class Allocator>
OutputView<T> to_view(std::vector<T, Allocator>&& values) {
    return hand_over<OutputView<T>>(std::move(values));
}

inline OutputRows<std::uint32_t> to_view(std::vector<prunedbpe::Merge>&& merges) {
    return hand_over<OutputRows<std::uint32_t>>(std::move(merges));
}

template <class Allocator>
OutputRows<std::int64_t> to_view(std::vector<prunedbpe::DocumentSpan, Allocator>&& spans) {
    return hand_over<OutputRows<std::int64_t>>(std::move(spans));
}

/// A text, as bytes that nobody copies.
inline OutputView<const std::uint8_t> to_view(std::string&& text) {
    // Not where it is now: a short one is inside of the string, and moves with it.
    auto held = std::make_unique<std::string>(std::move(text));
    return show<OutputView<const std::uint8_t>>(held->data(), held->size(), std::move(held));
}

/// Ids, which are no vector.
inline OutputArray<std::uint32_t> to_array(prunedbpe::IdBuffer&& ids) {
    const std::size_t size = ids.size();
    std::uint32_t* const owned = ids.release().release();
    nb::capsule owner(owned, [](void* p) noexcept { prunedbpe::IdBuffer::Free()(static_cast<std::uint32_t*>(p)); });
    return OutputArray<std::uint32_t>(owned, {size}, owner);
}

/// Ids of one text as an array. A small one is copied into an array that NumPy makes: that takes less than half the
/// time of handing memory over, which counts where texts are short.
inline nb::object to_id_array(prunedbpe::IdBuffer&& ids) {
    constexpr std::size_t small = 1 << 14;
    if (ids.size() > small) return nb::cast(to_array(std::move(ids)));
    // Never given back: they live as long as the process.
    static PyObject* const empty = nb::object(nb::module_::import_("numpy").attr("empty")).release().ptr();
    static PyObject* const type = nb::object(nb::module_::import_("numpy").attr("dtype")("uint32")).release().ptr();
    const nb::object size = nb::int_(ids.size());
    PyObject* const arguments[] = {size.ptr(), type};
    nb::object array = nb::steal(PyObject_Vectorcall(empty, arguments, 2, nullptr));
    Py_buffer memory;
    if (!array.is_valid() || PyObject_GetBuffer(array.ptr(), &memory, PyBUF_CONTIG) != 0) throw nb::python_error();
    std::memcpy(memory.buf, ids.data(), ids.size() * sizeof(std::uint32_t));
    PyBuffer_Release(&memory);
    return array;
}

inline std::optional<std::pair<std::size_t, const char*>> to_pair(const std::optional<prunedbpe::WrongRow>& wrong) {
    if (!wrong) return std::nullopt;
    return std::pair{wrong->row, wrong->what};
}

template <class T>
std::span<const T> as_span(const InputArray<T>& array) {
    return {array.data(), array.shape(0)};
}

inline std::span<const prunedbpe::Merge> as_merges(const PairArray& pairs) {
    return {reinterpret_cast<const prunedbpe::Merge*>(pairs.data()), pairs.shape(0)};
}

inline std::span<const prunedbpe::DocumentSpan> as_documents(const SpanArray& spans) {
    return {reinterpret_cast<const prunedbpe::DocumentSpan*>(spans.data()), spans.shape(0)};
}

/// Text arrives as any contiguous uint8 array (a NumPy view of bytes, of a file, of an Arrow buffer).
inline std::string_view as_text(const InputArray<std::uint8_t>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.shape(0)};
}

/// The scanner of a built-in pretokenizer; an unknown name is a ValueError.
inline prunedbpe::NextChunk scanner(std::string_view name) {
    const prunedbpe::NextChunk next = prunedbpe::find_pretokenizer(name);
    if (next == nullptr) throw nb::value_error(("no built-in pretokenizer '" + std::string(name) + "'").c_str());
    return next;
}
