#include "arrays.hpp"
#include "bindings.hpp"
#include "prunedbpe/text.hpp"

namespace {

using SpanOutput = nb::ndarray<nb::numpy, std::int64_t, nb::shape<-1, 2>>;

/// Needs the GIL: it creates Python objects. A span is two int64, so the vector is the (n, 2) array.
SpanOutput to_spans(std::vector<prunedbpe::DocumentSpan>&& spans) {
    auto* owned = new std::vector<prunedbpe::DocumentSpan>(std::move(spans));
    nb::capsule owner(owned, [](void* p) noexcept {
        delete static_cast<std::vector<prunedbpe::DocumentSpan>*>(p);
    });
    return SpanOutput(reinterpret_cast<std::int64_t*>(owned->data()), {owned->size(), 2}, owner);
}

}  // namespace

void bind_text(nb::module_& module) {
    module.def(
        "find_invalid_utf8",
        [](const InputArray<std::uint8_t>& text, unsigned threads) {
            // The array outlives the call, and nobody writes to the text of a corpus.
            nb::gil_scoped_release released;
            return prunedbpe::find_invalid_utf8(as_text(text), threads);
        },
        nb::arg("text"), nb::arg("threads") = 1, "Offset of the first sequence that is not UTF-8, or -1.");
    module.def(
        "split_lines",
        [](const InputArray<std::uint8_t>& text) {
            std::vector<prunedbpe::DocumentSpan> lines;
            {
                nb::gil_scoped_release released;
                lines = prunedbpe::split_lines(as_text(text));
            }
            return to_spans(std::move(lines));
        },
        nb::arg("text"), "Spans of the lines that are not empty, without their terminators.");
}
