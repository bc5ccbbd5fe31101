"""Does a model get better with another tokenizer of the same size? A study that others can repeat.

In: a corpus and a configuration, or two tokenizers. Out: small JSON files, one for each tokenizer,
seed and budget, and a page made of them. ``PROTOCOL.md`` says what is measured and how it is read;
it was written before the first run.

    settings    the configuration, from a JSON file
    texts       corpus -> documents, training and held-out side, order by seed
    arms        the tokenizers that are compared
    streams     documents -> token ids, rows of a batch
    model       the transformer
    training    one run: model, seed, stream -> figures; checkpoints
    measures    bits per byte, movement of embeddings
    kneser_ney  the second opinion: a 5-gram model over tokens
    intervals   t interval over seeds, bootstrap over documents, the decision
    results     the JSON files: what is there, what is missing
    schedule    runs what is missing, several at a time
"""
