// One declaration per stage, so that module.cpp needs to know nothing else.
#pragma once

#include <nanobind/nanobind.h>

void bind_pretokenize(nanobind::module_& module);
