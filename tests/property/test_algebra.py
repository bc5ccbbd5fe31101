"""The statements of ``docs/concepts/visibility.md``: `applied` gives lengths and exposures."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from implementations import native_tokenizer
from strategies import byte_chunk_counts, chunk_counts, documents, hidden_ranks

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, reference
from prunedbpe.errors import InsufficientCandidatesError
from prunedbpe.visibility.exposure import (
    encoded_length,
    exposure,
    flow,
    lengths_by_prefix,
    total_tokens,
)

corpora = chunk_counts(b"ab") | chunk_counts(b"abc") | byte_chunk_counts()
MERGES = 30


def learned_on(counts):
    return prunedbpe.learn(ChunkCounts.from_mapping(counts), MERGES)


def applied_on(merges, counts):
    """What the merges do to another corpus."""
    return prunedbpe.replay(merges, ChunkCounts.from_mapping(counts))


def as_mask(hidden, merge_count):
    mask = np.zeros(256 + merge_count, bool)
    mask[sorted(hidden)] = True
    return mask


@given(corpora, corpora)
def test_prefix_lengths(counts, other):
    merges = learned_on(counts)
    pairs = [tuple(pair) for pair in merges.pairs.tolist()]
    for corpus, applied in ((counts, merges.applied), (other, applied_on(merges, other))):
        lengths = lengths_by_prefix(applied).tolist()
        assert len(lengths) == len(pairs) + 1
        for merge_count, length in enumerate(lengths):
            segmented = reference.segment(pairs[:merge_count], corpus)
            assert length == sum(len(ranks) * count for ranks, count in segmented)
            assert length == total_tokens(applied, merge_count)


@given(corpora, corpora)
def test_exposure_of_every_prefix(counts, other):
    merges = learned_on(counts)
    pairs = [tuple(pair) for pair in merges.pairs.tolist()]
    for corpus, applied in ((counts, merges.applied), (other, applied_on(merges, other))):
        for merge_count in range(len(pairs) + 1):
            segmented = reference.segment(pairs[:merge_count], corpus)
            exposures = exposure(merges.pairs, applied, merge_count)
            assert exposures.tolist() == reference.exposure(segmented, merge_count)


@given(corpora, corpora, st.data())
def test_flow_length_equals_encoding(counts, other, data):
    """For any prefix and hidden set, on the corpus of the merges and on another."""
    merges = learned_on(counts)
    merge_count = data.draw(st.integers(0, len(merges)))
    hidden = data.draw(hidden_ranks(merge_count))
    pairs = [tuple(pair) for pair in merges.pairs[:merge_count].tolist()]
    mask = as_mask(hidden, merge_count)
    for corpus, applied in ((counts, merges.applied), (other, applied_on(merges, other))):
        segmented = reference.segment(pairs, corpus)
        exposures = exposure(merges.pairs, applied, merge_count)
        assert flow(merges.pairs, exposures, mask).tolist() == reference.flow(
            segmented, pairs, hidden
        )
        length = encoded_length(merges.pairs, applied, mask)
        assert length == reference.encoded_length(segmented, pairs, hidden)
        tokenizer = native_tokenizer(pairs, hidden)
        chunk_ids = (
            tokenizer._encoder.encode_chunks(
                np.frombuffer(chunk, np.uint8), np.array([len(chunk)]), 0.0, 0
            )
            for chunk in corpus
        )
        encoded = zip(chunk_ids, corpus.values(), strict=True)
        assert length == sum(len(ids) * count for ids, count in encoded)


@given(
    training=documents().filter(any),
    other=documents(),
    required=st.integers(0, 20),
    threshold=st.sampled_from([0, "40%", "100%", 2, 3]),
)
def test_length_of_a_trained_tokenizer(training, other, required, threshold):
    """The whole way: the algebra's length is the number of ids `encode` returns."""
    counts = prunedbpe.count(Corpus.from_texts(training))
    merges = prunedbpe.learn(counts, 200)
    try:
        tokenizer = prunedbpe.prune(merges, 260 + required, threshold=threshold)
    except InsufficientCandidatesError:
        return
    vocabulary = tokenizer.vocabulary
    assert tokenizer.training["encoded_length"] == sum(map(tokenizer.count_tokens, training))
    standard = prunedbpe.prune(merges, 260 + required, threshold=0)
    assert tokenizer.training["standard_encoded_length"] == sum(
        map(standard.count_tokens, training)
    )
    applied = prunedbpe.replay(merges, prunedbpe.count(Corpus.from_texts(other)))
    assert encoded_length(merges.pairs, applied, ~vocabulary.visible) == sum(
        map(tokenizer.count_tokens, other)
    )


@given(corpora)
def test_tokens_are_unique_strings(counts):
    strings = learned_on(counts).token_bytes
    assert len(set(strings)) == len(strings)


@given(corpora)
def test_tokens_encode_to_themselves(counts):
    merges = learned_on(counts)
    pairs = [tuple(pair) for pair in merges.pairs.tolist()]
    for rank, string in enumerate(merges.token_bytes):
        assert reference.encode_chunk(string, pairs) == [rank]
    native_tokenizer(pairs, set())  # checks the same natively, and refuses otherwise
