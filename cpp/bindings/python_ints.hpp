// Token ids to Python ints and back, without a Python call per id. These loops touch Python objects, so they cannot
// live in the core.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <vector>

namespace nb = nanobind;

/// One int object per token id, made when it first occurs: a list then costs one reference per id instead of one
/// allocation. Needs the GIL.
class IntObjects {
public:
    explicit IntObjects(std::size_t count) : objects_(count, nullptr) {}
    IntObjects(const IntObjects&) = delete;
    IntObjects& operator=(const IntObjects&) = delete;
    ~IntObjects() {
        for (PyObject* object : objects_) Py_XDECREF(object);
    }

    nb::list to_list(std::span<const std::uint32_t> ids) {
        nb::list list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(ids.size())));
        if (!list.is_valid()) throw nb::python_error();
        for (std::size_t i = 0; i < ids.size(); ++i) {
            PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), new_reference(ids[i]));
            if (i % signal_interval == signal_interval - 1 && PyErr_CheckSignals() != 0) throw nb::python_error();
        }
        return list;
    }

private:
    static constexpr std::size_t signal_interval = 1 << 22;  // some 20 ms

    PyObject* new_reference(std::uint32_t id) {
#ifdef Py_GIL_DISABLED
        // Without the GIL, contended reference counts cost more than new objects.
        PyObject* object = PyLong_FromUnsignedLong(id);
        if (object == nullptr) throw nb::python_error();
#else
        PyObject*& object = objects_[id];
        if (object == nullptr) [[unlikely]] {
            object = PyLong_FromUnsignedLong(id);
            if (object == nullptr) throw nb::python_error();
        }
        Py_INCREF(object);
#endif
        return object;
    }

    std::vector<PyObject*> objects_;
};

/// Pauses the cyclic garbage collector. It would run every few hundred new lists and traverse all their ints, although
/// none can be part of a cycle yet. Hold the GIL for the whole pause, so that no other thread switches the collector.
class GarbageCollectionPause {
public:
    GarbageCollectionPause() = default;
    GarbageCollectionPause(const GarbageCollectionPause&) = delete;
    GarbageCollectionPause& operator=(const GarbageCollectionPause&) = delete;
    ~GarbageCollectionPause() {
        if (was_running_) PyGC_Enable();
    }

private:
    bool was_running_ = PyGC_Disable() != 0;
};

inline constexpr std::uint32_t no_token_id = 0xFFFFFFFF;  ///< not in any vocabulary

/// The value of an int, or of an object with __index__; no_token_id if it is negative or too large.
inline std::uint32_t read_token_id(PyObject* object) {
    if (PyLong_CheckExact(object)) {
        const auto* number = reinterpret_cast<PyLongObject*>(object);
#if PY_VERSION_HEX >= 0x030C0000
        if (PyUnstable_Long_IsCompact(number)) {
            const Py_ssize_t value = PyUnstable_Long_CompactValue(number);
            return value < 0 ? no_token_id : static_cast<std::uint32_t>(value);
        }
#else
        // The number of digits carries the sign; one digit holds 30 bits.
        if (Py_SIZE(number) == 1) return number->ob_digit[0];
        if (Py_SIZE(number) == 0) return 0;
#endif
    }
    PyObject* const index = PyNumber_Index(object);
    if (index == nullptr) throw nb::python_error();
    const unsigned long value = PyLong_AsUnsignedLong(index);
    Py_DECREF(index);
    if (PyErr_Occurred()) {
        PyErr_Clear();  // the caller reports it
        return no_token_id;
    }
    return value < no_token_id ? static_cast<std::uint32_t>(value) : no_token_id;
}

/// The ids of a list, a tuple or another sequence of ints.
inline std::vector<std::uint32_t> read_ids(nb::handle sequence) {
    const nb::object fast = nb::steal(PySequence_Fast(sequence.ptr(), "they must be a sequence"));
    if (!fast.is_valid()) throw nb::python_error();
    const auto size = [&] { return static_cast<std::size_t>(PySequence_Fast_GET_SIZE(fast.ptr())); };
    std::vector<std::uint32_t> ids(size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        // Checked every time: __index__ may run code that changes the list.
        if (i >= size()) throw nb::value_error("the list of ids changed while it was read");
        ids[i] = read_token_id(PySequence_Fast_GET_ITEM(fast.ptr(), static_cast<Py_ssize_t>(i)));
    }
    return ids;
}
