// Token ids as Python ints, both ways, without a call for each.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <vector>

namespace nb = nanobind;

/// One int object for every token id, made when it first occurs: a list then costs one reference for
/// each id instead of one allocation. Needs the GIL.
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
        }
        return list;
    }

private:
    PyObject* new_reference(std::uint32_t id) {
#ifdef Py_GIL_DISABLED
        // Threads that share an object pay for counting its references; a new one is cheaper.
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

/// Keeps Python's collector of cycles from running. While thousands of lists are made it would run every few hundred of
/// them and walk through all their ints, several times, although none of them can be part of a cycle yet. The GIL must be
/// held all the time: whoever else sets the collector going or stops it does so before or after.
class CollectorPause {
public:
    CollectorPause() = default;
    CollectorPause(const CollectorPause&) = delete;
    CollectorPause& operator=(const CollectorPause&) = delete;
    ~CollectorPause() {
        if (was_running_) PyGC_Enable();
    }

private:
    bool was_running_ = PyGC_Disable() != 0;
};

inline constexpr std::uint32_t no_token_id = 0xFFFFFFFF;

/// An int, or what can stand for one, as a token id; no_token_id for one that none can have.
inline std::uint32_t read_token_id(PyObject* object) {
    if (PyLong_CheckExact(object)) {
        const auto* number = reinterpret_cast<PyLongObject*>(object);
#if PY_VERSION_HEX >= 0x030C0000
        if (PyUnstable_Long_IsCompact(number)) {
            const Py_ssize_t value = PyUnstable_Long_CompactValue(number);
            return value < 0 ? no_token_id : static_cast<std::uint32_t>(value);
        }
#else
        // The count of digits carries the sign; one digit holds 30 bits.
        if (Py_SIZE(number) == 1) return number->ob_digit[0];
        if (Py_SIZE(number) == 0) return 0;
#endif
    }
    PyObject* const index = PyNumber_Index(object);
    if (index == nullptr) throw nb::python_error();
    const unsigned long value = PyLong_AsUnsignedLong(index);
    Py_DECREF(index);
    if (PyErr_Occurred()) {
        PyErr_Clear();  // negative, or huge: the caller names it
        return no_token_id;
    }
    return value < no_token_id ? static_cast<std::uint32_t>(value) : no_token_id;
}
