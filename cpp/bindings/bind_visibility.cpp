#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/visibility.hpp"

using namespace nb::literals;

void bind_visibility(nb::module_& module) {
    module.def(
        "hide_cheapest",
        [](PairArray merges, InputArray<double> exposure, InputArray<double> price, std::size_t count) {
            std::vector<std::uint32_t> order;
            {
                nb::gil_scoped_release release;  // the arrays are borrowed for the call
                order = prunedbpe::hide_cheapest(as_merges(merges), as_span(exposure), as_span(price), count);
            }
            return to_array(std::move(order));
        },
        "merges"_a, "exposure"_a, "price"_a, "count"_a,
        "Ranks of the tokens to hide, the cheapest first.");
}
