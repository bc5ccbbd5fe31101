// The native module: wiring only. One bind_*.cpp per stage of the pipeline.
#include "bindings.hpp"
#include "prunedbpe/interrupt.hpp"

NB_MODULE(_core, module) {
    module.doc() = "Native core of prunedbpe: the loops over the corpus.";
    // Servers keep tokenizers until the interpreter exits, which nanobind would print as leaks, a page for each process.
    nanobind::set_leak_warnings(false);
    nanobind::register_exception_translator([](const std::exception_ptr& error, void*) {
        try {
            std::rethrow_exception(error);
        } catch (const prunedbpe::Interrupted&) {
            // The signal handler has set Python's exception, mostly KeyboardInterrupt.
        }
    });
    bind_corpus(module);
    bind_pretokenizers(module);
    bind_counts(module);
    bind_merges(module);
    bind_visibility(module);
    bind_lower_bound(module);
    bind_vocabulary(module);
    bind_tokenizer(module);
    bind_shortest(module);
    bind_baselines(module);
}
