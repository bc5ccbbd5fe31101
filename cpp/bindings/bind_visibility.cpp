#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/visibility.hpp"

using namespace nb::literals;

void bind_visibility(nb::module_& module) {
    module.def(
        "hide_cheapest",
        [](PairArray merges, InputArray<double> exposure, InputArray<double> price, std::size_t count) {
            return to_array(without_gil([&] {
                return prunedbpe::hide_cheapest(as_merges(merges), as_span(exposure), as_span(price), count);
            }));
        },
        "merges"_a, "exposure"_a, "price"_a, "count"_a, "Ranks of the tokens to hide, the cheapest first.");
}
