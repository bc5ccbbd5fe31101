#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/pretokenize.hpp"

void bind_pretokenize(nb::module_&) {}
