#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/baselines.hpp"

using namespace nb::literals;
using prunedbpe::GreedTokLearner;
using prunedbpe::PickyEncoder;
using prunedbpe::PickyEvent;
using prunedbpe::PickyLearner;

namespace {

/// Four numbers per event: kind, first, second, token.
auto learned(const PickyLearner& learner) {
    const std::span<const PickyEvent> events = learner.events();
    const auto* const numbers = reinterpret_cast<const std::uint32_t*>(events.data());
    return std::tuple(copy_to_array(std::span(numbers, events.size() * 4)), copy_to_array(learner.parts()),
                      copy_to_array(learner.changes()));
}

auto chosen(const GreedTokLearner& learner) {
    return std::tuple(to_array(std::string(learner.tokens())), copy_to_array(learner.offsets()),
                      copy_to_array(learner.scores()));
}

}  // namespace

void bind_baselines(nb::module_& module) {
    // Inputs are borrowed for the call, a learner has one owner, an encoder is immutable.
    const nb::call_guard<LongCall> long_call;
    nb::class_<PickyLearner>(module, "PickyLearner", "Learns Picky BPE step by step; one owner.")
        .def(
            "__init__",
            [](PickyLearner* self, Bytes bytes, Int64s offsets, Int64s counts, std::int64_t numerator,
               std::int64_t denominator) {
                new (self) PickyLearner({as_span(bytes), as_span(offsets), as_span(counts), {}},
                                        {numerator, denominator});
            },
            "bytes"_a, "offsets"_a, "counts"_a, "numerator"_a, "denominator"_a, long_call)
        .def("advance", &PickyLearner::advance, "steps"_a, "required"_a, long_call,
             "Merge up to `steps` more pairs, until `required` learned tokens are present.")
        .def("learned", &learned, "Flat events, parts of the splits, and the change of length by event.")
        .def_prop_ro("present_count", &PickyLearner::present_count, "Learned tokens in the vocabulary now.");
    nb::class_<PickyEncoder>(module, "PickyEncoder", "Replays merges and splits; immutable.")
        .def(
            "__init__",
            [](PickyEncoder* self, UInt32s events, UInt32s parts) {
                const auto* const first = reinterpret_cast<const PickyEvent*>(events.data());
                new (self) PickyEncoder(std::span(first, events.shape(0) / 4), as_span(parts));
            },
            "events"_a, "parts"_a, long_call)
        .def(
            "encode_chunks",
            [](const PickyEncoder& encoder, Bytes text, Int64s ends) {
                return to_array(without_gil([&] { return encoder.encode_chunks(as_text(text), as_span(ends)); }));
            },
            "text"_a, "ends"_a, "Tokens of a text that the caller has cut: chunk i ends at ends[i].")
        .def(
            "changes",
            [](const PickyEncoder& encoder, Bytes bytes, Int64s offsets, Int64s counts, unsigned threads) {
                return to_array(without_gil([&] {
                    return encoder.changes({as_span(bytes), as_span(offsets), as_span(counts), {}}, threads);
                }));
            },
            "bytes"_a, "offsets"_a, "counts"_a, "threads"_a, "By event, how many tokens longer it makes a corpus.");
    nb::class_<GreedTokLearner>(module, "GreedTokLearner", "Chooses GreedTok's tokens step by step; one owner.")
        .def(
            "__init__",
            [](GreedTokLearner* self, Bytes bytes, Int64s offsets, Int64s counts, std::int64_t least_frequency) {
                new (self) GreedTokLearner({as_span(bytes), as_span(offsets), as_span(counts), {}}, least_frequency);
            },
            "bytes"_a, "offsets"_a, "counts"_a, "least_frequency"_a, long_call)
        .def("advance", &GreedTokLearner::advance, "steps"_a, long_call, "Take up to `steps` more tokens.")
        .def("chosen", &chosen, "Flat tokens, where each begins, and how much shorter each made the corpus.");
    module.def(
        "greedtok_scores",
        [](Bytes tokens, Int64s token_offsets, Bytes bytes, Int64s offsets, Int64s counts) {
            return to_array(without_gil([&] {
                return prunedbpe::greedtok_scores(as_text(tokens), as_span(token_offsets),
                                                  {as_span(bytes), as_span(offsets), as_span(counts), {}});
            }));
        },
        "tokens"_a, "token_offsets"_a, "bytes"_a, "offsets"_a, "counts"_a,
        "By token, how much shorter it makes a corpus when the tokens cover it in this order.");
}
