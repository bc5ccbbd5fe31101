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
    module.def(
        "assign_token_ids",
        [](InputArray<bool> visible, std::size_t special_count) {
            return to_view(prunedbpe::assign_token_ids(as_span(visible), special_count));
        },
        "visible"_a, "special_count"_a, "Token id of every rank.");
    module.def(
        "expand_internal",
        [](PairArray merges, InputArray<bool> visible, InputArray<std::uint32_t> token_ids) {
            prunedbpe::ExpandedRanks expanded =
                prunedbpe::expand_internal(as_merges(merges), as_span(visible), as_span(token_ids));
            return nb::make_tuple(to_view(std::move(expanded.ids)), to_view(std::move(expanded.offsets)));
        },
        "merges"_a, "visible"_a, "token_ids"_a, "What is visible of each rank: flat ids, and offsets.");
}
