#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/vocabulary.hpp"

using namespace nb::literals;

namespace {

using ReadVocabulary = std::tuple<OutputPairs<std::uint32_t>, OutputArray<bool>, std::vector<nb::bytes>>;

std::string_view as_view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

std::optional<ReadVocabulary> read_vocabulary(nb::bytes visible_file, nb::bytes internal_file) {
    auto files =
        without_gil([&] { return prunedbpe::read_vocabulary(as_view(visible_file), as_view(internal_file)); });
    if (!files) return std::nullopt;
    std::vector<nb::bytes> special_tokens;
    for (const std::string& token : files->special_tokens) special_tokens.emplace_back(token.data(), token.size());
    return ReadVocabulary(to_array(std::move(files->merges)), to_array<OutputArray<bool>>(std::move(files->visible)),
                          std::move(special_tokens));
}

auto write_vocabulary(PairArray merges, InputArray<bool> visible, const std::vector<nb::bytes>& special_tokens) {
    std::vector<std::string_view> tokens;
    for (const nb::bytes& token : special_tokens) tokens.push_back(as_view(token));
    // Safe without the GIL: is_printable only reads a table.
    const auto is_printable = [](char32_t c) { return Py_UNICODE_ISPRINTABLE(c) != 0; };
    prunedbpe::WrittenVocabulary files = without_gil(
        [&] { return prunedbpe::write_vocabulary(as_merges(merges), as_span(visible), tokens, is_printable); });
    return std::pair(to_array(std::move(files.visible_file)), to_array(std::move(files.internal_file)));
}

}  // namespace

void bind_vocabulary(nb::module_& module) {
    module.def(
        "find_late_part", [](PairArray merges) { return prunedbpe::find_late_part(as_merges(merges)); }, "merges"_a,
        "Index of the first merge with a part that is not made before it, or None.");
    module.def(
        "find_unreachable",
        [](PairArray merges) { return without_gil([&] { return prunedbpe::find_unreachable(as_merges(merges)); }); },
        "merges"_a, "The lowest rank whose own bytes do not merge into it, or None.");
    module.def(
        "spell",
        [](PairArray merges) {
            prunedbpe::TokenStrings strings = without_gil([&] { return prunedbpe::spell(as_merges(merges)); });
            return std::pair(to_array(std::move(strings.bytes)), to_array(std::move(strings.offsets)));
        },
        "merges"_a, "The bytes of every rank, flat, and offsets.");
    module.def(
        "assign_token_ids",
        [](InputArray<bool> visible, std::size_t special_count) {
            return to_array(prunedbpe::assign_token_ids(as_span(visible), special_count));
        },
        "visible"_a, "special_count"_a, "Token id of every rank.");
    module.def(
        "expand_internal",
        [](PairArray merges, InputArray<bool> visible, UInt32s token_ids) {
            prunedbpe::ExpandedRanks expanded =
                prunedbpe::expand_internal(as_merges(merges), as_span(visible), as_span(token_ids));
            return std::pair(to_array(std::move(expanded.ids)), to_array(std::move(expanded.offsets)));
        },
        "merges"_a, "visible"_a, "token_ids"_a, "The visible ids that stand for each rank, flat, and offsets.");
    module.def("read_vocabulary", &read_vocabulary, "visible_file"_a, "internal_file"_a,
               "Merges, visibility and special tokens of two vocabulary files, or None if anything is unusual.");
    module.def("write_vocabulary", &write_vocabulary, "merges"_a, "visible"_a, "special_tokens"_a,
               "The visible and the internal vocabulary file, as bytes.");
}
