"""Pruning: `train` and `prune` over the native core against the whole method in plain Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from implementations import NATIVE_THREADS, plain_vocabulary
from strategies import chunk_counts

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, reference
from prunedbpe.errors import InsufficientCandidatesError, SettingsError

thresholds = st.one_of(
    st.sampled_from([0, "0", 0.0, "0%", 1, 2, 3, "4", 10**30, "20%", "30%", "40%", "100%", "250%"]),
    st.integers(0, 20),
    st.integers(0, 300).map(lambda percent: f"{percent}%"),
    st.floats(0, 3, allow_nan=False),
    st.sampled_from(["33.3%", "1/3%", "0.5%", 1e-05]),
)
corpora = chunk_counts(b"ab", max_chunks=8, max_count=6) | chunk_counts(b"abcd", max_chunks=8)
special = st.sampled_from([(), ("<eos>",), ("<a>", "<b>", "<c>")])
FAILURES = (InsufficientCandidatesError, SettingsError)


def outcome(make):
    """What came out: the vocabulary, or the kind of refusal."""
    try:
        vocabulary = make()
    except FAILURES as error:
        return type(error)
    return (
        vocabulary.merges,
        vocabulary.visible,
        vocabulary.internal,
        vocabulary.token_ids,
        vocabulary.special_ids,
        vocabulary.vocab_size,
    )


def plain(counts, required, threshold, special_tokens, max_train_vocab):
    size = 256 + required + len(special_tokens)
    return outcome(
        lambda: reference.train(counts, size, threshold, special_tokens, max_train_vocab)
    )


caps = st.none() | st.integers(0, 60).map(lambda merges: 256 + merges)


@pytest.mark.parametrize("threads", NATIVE_THREADS)
@given(
    counts=corpora,
    required=st.integers(0, 12),
    threshold=thresholds,
    special_tokens=special,
    max_train_vocab=caps,
)
def test_training(threads, counts, required, threshold, special_tokens, max_train_vocab):
    # A document is a chunk: any chunk counts are those of a corpus.
    corpus = [chunk.decode() for chunk, count in counts.items() for _ in range(count)]

    def trained():
        tokenizer = prunedbpe.train(
            Corpus.from_texts(corpus),
            256 + required + len(special_tokens),
            threshold=threshold,
            pretokenizer="none",
            special_tokens=special_tokens,
            max_train_vocab=max_train_vocab,
            threads=threads,
        )
        return plain_vocabulary(tokenizer.vocabulary)

    assert outcome(trained) == plain(counts, required, threshold, special_tokens, max_train_vocab)


@given(
    counts=corpora,
    required=st.integers(0, 10),
    threshold=thresholds,
    special_tokens=special,
    max_train_vocab=caps,
    learned=st.integers(0, 120),
)
def test_pruning_a_merge_table(
    counts, required, threshold, special_tokens, max_train_vocab, learned
):
    """A table of K merges gives what training capped at K gives; exhausted, what any would."""
    merges = prunedbpe.learn(ChunkCounts.from_mapping(counts), learned)

    def pruned():
        tokenizer = prunedbpe.prune(
            merges,
            256 + required + len(special_tokens),
            threshold=threshold,
            special_tokens=special_tokens,
            max_train_vocab=max_train_vocab,
        )
        return plain_vocabulary(tokenizer.vocabulary)

    if max_train_vocab is not None and max_train_vocab < 256 + required:
        assert outcome(pruned) is SettingsError
    elif len(merges) < required:
        assert outcome(pruned) is InsufficientCandidatesError
    else:
        ends = [] if merges.exhausted else [256 + len(merges)]
        caps_ = ends + ([] if max_train_vocab is None else [max_train_vocab])
        expected = plain(counts, required, threshold, special_tokens, min(caps_, default=None))
        assert outcome(pruned) == expected


@given(counts=corpora, required=st.integers(0, 12))
def test_threshold_zero_is_standard_bpe(counts, required):
    merges = prunedbpe.learn(ChunkCounts.from_mapping(counts), 100)
    if len(merges) < required:
        return
    vocabulary = prunedbpe.prune(merges, 260 + required, threshold=0).vocabulary
    assert vocabulary.internal_count == 0
    assert vocabulary.pairs.tolist() == merges.pairs[:required].tolist()
    assert vocabulary.token_ids.tolist() == list(range(256 + required))
