// One declaration per stage, so that module.cpp needs to know nothing else.
#pragma once

#include <nanobind/nanobind.h>

void bind_pretokenize(nanobind::module_& module);
void bind_count(nanobind::module_& module);
void bind_learn(nanobind::module_& module);
void bind_visibility(nanobind::module_& module);
void bind_tokenizer(nanobind::module_& module);
void bind_shortest(nanobind::module_& module);
void bind_baselines(nanobind::module_& module);
void bind_text(nanobind::module_& module);
