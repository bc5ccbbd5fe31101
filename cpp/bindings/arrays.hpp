// How arrays cross the boundary. In: borrowed for the call. Out: a result moves into a NumPy array that owns it, always
// through `to_array`.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "prunedbpe/id_buffer.hpp"
#include "prunedbpe/interrupt.hpp"
#include "prunedbpe/pretokenizers.hpp"
#include "prunedbpe/types.hpp"

namespace nb = nanobind;

template <class T>
using InputArray = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = InputArray<std::uint8_t>;
using UInt32s = InputArray<std::uint32_t>;
using Int64s = InputArray<std::int64_t>;
using PairArray = nb::ndarray<const std::uint32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using SpanArray = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

template <class T>
using OutputArray = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using OutputPairs = nb::ndarray<nb::numpy, T, nb::shape<-1, 2>>;

/// The array that a vector of `Row` becomes.
template <class Row>
struct ArrayOf {
    using type = OutputArray<Row>;
};
template <>
struct ArrayOf<prunedbpe::Merge> {
    using type = OutputPairs<std::uint32_t>;
};
template <>
struct ArrayOf<const prunedbpe::Merge> {
    using type = OutputPairs<const std::uint32_t>;
};
template <>
struct ArrayOf<prunedbpe::DocumentSpan> {
    using type = OutputPairs<std::int64_t>;
};

/// Shows `size` rows of memory that `owner` keeps alive. Needs the GIL.
template <class Output, class Row, class Owner>
Output own_array(Row* rows, std::size_t size, Owner&& owner) {
    using Number = typename Output::Scalar;
    const nb::capsule capsule(new Owner(std::move(owner)), [](void* p) noexcept { delete static_cast<Owner*>(p); });
    const std::size_t shape[] = {size, 2};
    return Output(reinterpret_cast<Number*>(rows), sizeof(Row) / sizeof(Number), shape, capsule);
}

/// `Output` overrides the type of the array.
template <class Output = void, class Row, class Allocator>
auto to_array(std::vector<Row, Allocator>&& rows) {
    using Array = std::conditional_t<std::is_void_v<Output>, typename ArrayOf<Row>::type, Output>;
    return own_array<Array>(rows.data(), rows.size(), std::move(rows));  // moving a vector leaves its rows in place
}

inline OutputArray<std::uint32_t> to_array(prunedbpe::IdBuffer&& ids) {
    const std::size_t size = ids.size();
    auto memory = ids.release();
    return own_array<OutputArray<std::uint32_t>>(memory.get(), size, std::move(memory));
}

inline OutputArray<const std::uint8_t> to_array(std::string&& text) {
    // On the heap: a short string holds its characters itself, and they would move with it.
    auto held = std::make_unique<std::string>(std::move(text));
    return own_array<OutputArray<const std::uint8_t>>(held->data(), held->size(), std::move(held));
}

/// A read-only copy of rows that the core keeps.
template <class Row>
auto copy_to_array(std::span<const Row> rows) {
    return to_array<typename ArrayOf<const Row>::type>(std::vector<Row>(rows.begin(), rows.end()));
}

/// Runs the handlers of pending signals, and returns whether one of them raised. The exception stays set until the
/// Interrupted that follows leaves the binding (module.cpp). Python does this on its main thread only.
inline bool signal_handler_raises() {
    const nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
}

/// Around a call: releases the GIL, and lets Ctrl-C stop it. Safe for work that touches no Python object: inputs are
/// borrowed for the call, and results become arrays afterwards.
struct LongCall {
    nb::gil_scoped_release release;
    prunedbpe::Interrupt interrupt{signal_handler_raises};
};

/// Runs `work` as a LongCall.
template <class Work>
auto without_gil(Work&& work) {
    const LongCall call;
    return work();
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

/// Text arrives as any contiguous uint8 array: a NumPy view of bytes, of a file, of an Arrow buffer.
inline std::string_view as_text(const Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.shape(0)};
}

inline std::optional<std::pair<std::size_t, const char*>> to_pair(const std::optional<prunedbpe::WrongRow>& wrong) {
    if (!wrong) return std::nullopt;
    return std::pair{wrong->row, wrong->what};
}

/// The scanner of a built-in pretokenizer; an unknown name is a ValueError.
inline prunedbpe::NextChunk scanner(std::string_view name) {
    const prunedbpe::NextChunk next = prunedbpe::find_pretokenizer(name);
    if (next == nullptr) throw nb::value_error(("no pretokenizer named '" + std::string(name) + "'").c_str());
    return next;
}
