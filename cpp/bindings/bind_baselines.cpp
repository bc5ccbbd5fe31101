#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/baselines.hpp"

using namespace nb::literals;
using prunedbpe::PickyEncoder;
using prunedbpe::PickyEvent;
using prunedbpe::PickyLearner;

namespace {

using Bytes = InputArray<std::uint8_t>;
using Int64s = InputArray<std::int64_t>;
using UInt32s = InputArray<std::uint32_t>;

template <class T>
OutputArray<T> copied(std::span<const T> values) {
    return to_array(std::vector<T>(values.begin(), values.end()));
}

/// Four numbers for each event: kind, first, second, token.
nb::tuple learned(const PickyLearner& learner) {
    const std::span<const PickyEvent> events = learner.events();
    const auto* numbers = reinterpret_cast<const std::uint32_t*>(events.data());
    return nb::make_tuple(copied(std::span(numbers, events.size() * 4)), copied(learner.parts()),
                          copied(learner.changes()));
}

}  // namespace

void bind_baselines(nb::module_& module) {
    // Inputs are borrowed for the call, a learner has one owner, an encoder is immutable: the GIL may go.
    const nb::call_guard<nb::gil_scoped_release> without_gil;
    nb::class_<PickyLearner>(module, "PickyLearner", "Learns Picky BPE step by step; one owner.")
        .def(
            "__init__",
            [](PickyLearner* self, Bytes bytes, Int64s offsets, Int64s counts, std::int64_t numerator,
               std::int64_t denominator) {
                new (self) PickyLearner({as_span(bytes), as_span(offsets), as_span(counts), {}},
                                        {numerator, denominator});
            },
            "bytes"_a, "offsets"_a, "counts"_a, "numerator"_a, "denominator"_a, without_gil)
        .def("advance", &PickyLearner::advance, "steps"_a, "required"_a, without_gil,
             "Merge up to this many more pairs, until `required` learned tokens are present.")
        .def("learned", &learned, "Flat events, parts of the splits, and the change of length by event.")
        .def_prop_ro("present_count", &PickyLearner::present_count, "Learned tokens in the vocabulary now.");
    nb::class_<PickyEncoder>(module, "PickyEncoder", "Replays merges and splits; immutable.")
        .def(
            "__init__",
            [](PickyEncoder* self, UInt32s events, UInt32s parts) {
                const auto* first = reinterpret_cast<const PickyEvent*>(events.data());
                new (self) PickyEncoder(std::span(first, events.shape(0) / 4), as_span(parts));
            },
            "events"_a, "parts"_a, without_gil)
        .def(
            "encode_chunks",
            [](const PickyEncoder& encoder, Bytes text, Int64s ends) {
                std::vector<std::uint32_t> tokens;
                {
                    nb::gil_scoped_release release;
                    std::size_t begin = 0;
                    for (const std::int64_t end : as_span(ends)) {
                        encoder.encode(as_text(text).substr(begin, static_cast<std::size_t>(end) - begin), tokens);
                        begin = static_cast<std::size_t>(end);
                    }
                }
                return to_array(std::move(tokens));
            },
            "text"_a, "ends"_a, "Tokens of a text cut by somebody else.")
        .def(
            "changes",
            [](const PickyEncoder& encoder, Bytes bytes, Int64s offsets, Int64s counts, unsigned threads) {
                std::vector<std::int64_t> changes;
                {
                    nb::gil_scoped_release release;
                    changes = encoder.changes({as_span(bytes), as_span(offsets), as_span(counts), {}}, threads);
                }
                return to_array(std::move(changes));
            },
            "bytes"_a, "offsets"_a, "counts"_a, "threads"_a, "By event, how many tokens longer it makes a corpus.");
}
