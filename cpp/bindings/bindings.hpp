// One function per stage; module.cpp needs to know nothing else.
#pragma once

#include <nanobind/nanobind.h>

void bind_corpus(nanobind::module_& module);
void bind_pretokenizers(nanobind::module_& module);
void bind_counts(nanobind::module_& module);
void bind_merges(nanobind::module_& module);
void bind_visibility(nanobind::module_& module);
void bind_lower_bound(nanobind::module_& module);
void bind_vocabulary(nanobind::module_& module);
void bind_tokenizer(nanobind::module_& module);
void bind_shortest(nanobind::module_& module);
void bind_baselines(nanobind::module_& module);
