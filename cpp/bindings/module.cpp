// The native module: wiring only. One bind_*.cpp per stage of the pipeline.
#include "bindings.hpp"

NB_MODULE(_core, module) {
    module.doc() = "Native core of prunedbpe: the loops over the corpus.";
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
