"""The baselines against their plain-Python versions, and worked examples."""

from fractions import Fraction

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from prunedbpe import ChunkCounts, count, learn
from prunedbpe.baselines import (
    PickyBPE,
    learn_greedtok,
    learn_picky,
    learn_unigram,
    scaffold,
    standard,
    trim,
)
from prunedbpe.baselines.scaffold import scaffold_sizes
from prunedbpe.errors import InsufficientCandidatesError, SettingsError
from prunedbpe.merges import replay
from prunedbpe.reference import baselines as plain
from prunedbpe.reference.learn import segment
from prunedbpe.reference.visibility import encoded_length as plain_length
from prunedbpe.tokenizer.shortest import shortest_lengths
from prunedbpe.visibility.exposure import lengths_by_prefix

COUNTS = {b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}


def pairs_of(merges):
    return [tuple(pair) for pair in merges.pairs.tolist()]


@given(strategies.chunk_counts(max_count=9), st.integers(0, 6), st.integers(0, 4))
def test_trimming(counts, required, extra):
    merges = learn(ChunkCounts.from_mapping(counts), 12)
    if len(merges) < required + extra:
        with pytest.raises(InsufficientCandidatesError):
            trim(merges, required, extra)
        return
    selection = trim(merges, required, extra)
    plain_merges, hidden = plain.trim(counts, required, extra)
    assert pairs_of(merges)[: required + extra] == plain_merges
    assert set(np.flatnonzero(selection.hidden).tolist()) == hidden
    corpus = segment(plain_merges, counts)
    assert selection.length(merges.pairs, merges.applied) == plain_length(
        corpus, plain_merges, hidden
    )


@given(strategies.chunk_counts(max_chunks=10, max_count=9), st.integers(0, 8))
def test_scaffold(counts, required):
    plain_merges, hidden = plain.scaffold(counts, required)
    merges = learn(ChunkCounts.from_mapping(counts), 100)
    if len(plain_merges) - len(hidden) < required:
        with pytest.raises(InsufficientCandidatesError):
            scaffold(merges, required)
        return
    selection = scaffold(merges, required)
    assert pairs_of(merges)[: selection.merge_count] == plain_merges
    assert set(np.flatnonzero(selection.hidden).tolist()) == hidden
    assert selection.visible_learned == required


def test_scaffold_comes_back():
    # "ab" is used up by "abc" but for 4 times, below the 5 of "xy"; when "xy" is done, 4 is best.
    counts = {b"abc": 9, b"xy": 5, b"ab": 4, b"zw": 3}
    merges = learn(ChunkCounts.from_mapping(counts), 10)
    assert merges.token_bytes[256:] == [b"ab", b"abc", b"xy", b"zw"]
    selections = scaffold_sizes(merges, [1, 2, 3, 4])
    hidden = {size: np.flatnonzero(s.hidden).tolist() for size, s in selections.items()}
    assert hidden == {1: [], 2: [256], 3: [], 4: []}
    assert selections[3].merge_count == 3


def test_scaffold_needs_to_know_what_comes_next():
    with pytest.raises(InsufficientCandidatesError, match="2 merges are needed"):
        scaffold(learn(ChunkCounts.from_mapping(COUNTS), 1), 1)


def test_standard():
    merges = learn(ChunkCounts.from_mapping(COUNTS), 4)
    assert standard(merges, 3).length(merges.pairs, merges.applied) == 10
    with pytest.raises(InsufficientCandidatesError):
        standard(merges, 5)


def plain_events(learned):
    return [
        ("split", tuple(learned.parts[first:second].tolist()), token)
        if kind
        else ("merge", (first, second), token)
        for kind, first, second, token in learned.events.tolist()
    ]


@given(
    strategies.chunk_counts(max_chunks=10, max_count=9),
    st.integers(0, 9),
    st.sampled_from(["0.9", "0.7", "0.5", "0.3", "0.1"]),
    strategies.chunk_counts(),
)
def test_picky(counts, required, threshold, other):
    expected = plain.picky(counts, required, threshold)
    learned = learn_picky(ChunkCounts.from_mapping(counts), required, threshold)
    assert plain_events(learned) == expected.events
    total = sum(len(ranks) * count for ranks, count in expected.corpus)
    total_bytes = sum(len(chunk) * count for chunk, count in counts.items())
    assert total_bytes + learned.changes.sum() == total
    # Replaying the events gives the same changes on the training corpus, and encodes any other.
    on_training = learned.changes_on(ChunkCounts.from_mapping(counts), threads=2)
    assert on_training.tolist() == learned.changes.tolist()
    changes = learned.changes_on(ChunkCounts.from_mapping(other))
    lengths = {chunk: len(plain.encode_picky(chunk, expected.events)) for chunk in other}
    assert sum(len(chunk) * count for chunk, count in other.items()) + changes.sum() == sum(
        lengths[chunk] * count for chunk, count in other.items()
    )


@given(strategies.chunk_counts(max_chunks=10, max_count=9), st.integers(1, 8))
def test_picky_of_a_smaller_size_is_a_prefix(counts, required):
    table = ChunkCounts.from_mapping(counts)
    large = learn_picky(table, 9, "0.6")
    small = learn_picky(table, required, "0.6")
    if len(small.present_after) and small.present_after[-1] >= required:
        prefix = large.prefix(required)
        assert large.events[:prefix].tolist() == small.events.tolist()
        tok = PickyBPE(large, required)
        assert tok.vocab_size == 256 + required
        for chunk in counts:
            text = chunk.decode()
            assert tok.decode(tok.encode(text)) == text
            assert tok.encode(text) == PickyBPE(small, required).encode(text)


def test_picky_token_comes_back():
    # "ab" is removed once "abc" has used it in 9 of 10 cases; nothing else is left but its last
    # occurrences, which are merged again, into the same token.
    counts = ChunkCounts.from_mapping({b"abc": 18, b"ab": 2})
    learned = learn_picky(counts, 2, "0.9")
    assert plain_events(learned) == [
        ("merge", (97, 98), 256),
        ("merge", (256, 99), 257),
        ("split", (97, 98), 256),
        ("merge", (97, 98), 256),
    ]
    assert learned.present_after.tolist() == [1, 2, 1, 2]


def test_picky_never_removes_bytes():
    learned = learn_picky(ChunkCounts.from_mapping({b"ab": 9}), 5, "0.1")
    assert plain_events(learned) == [("merge", (97, 98), 256)]
    assert Fraction(9, 9) >= Fraction("0.1")  # both bytes are used up entirely


@pytest.mark.parametrize("threshold", [0, 1.5, -1])
def test_picky_thresholds_that_make_no_sense(threshold):
    with pytest.raises(SettingsError, match="threshold"):
        learn_picky(ChunkCounts.from_mapping(COUNTS), 1, threshold)


@given(
    strategies.chunk_counts(max_chunks=10, max_count=9),
    st.integers(0, 30),
    st.integers(1, 3),
    strategies.chunk_counts(),
)
def test_greedtok(counts, required, least, other):
    tokens, saved = plain.greedtok(counts, required, least)
    chosen = learn_greedtok(ChunkCounts.from_mapping(counts), required, least_frequency=least)
    assert chosen.tokens == tokens
    assert chosen.saved.tolist() == saved
    for corpus in (counts, other):
        on_corpus = chosen.saved_on(ChunkCounts.from_mapping(corpus)).tolist()
        assert on_corpus == plain.greedtok_scores(tokens, corpus)


def test_greedtok_ends_when_nothing_is_left_to_join():
    counts = ChunkCounts.from_mapping({b"ab": 3, b"cd": 1})
    assert learn_greedtok(counts, 5).tokens == [b"ab", b"cd"]
    assert learn_greedtok(counts, 5, least_frequency=2).tokens == [b"ab"]
    assert learn_greedtok(ChunkCounts.from_mapping({}), 5).tokens == []


def test_greedtok_takes_no_token_of_over_254_bytes():
    counts = ChunkCounts.from_mapping({bytes(range(255)) + b"\xff" * 45: 2})
    assert max(map(len, learn_greedtok(counts, 5).tokens)) == 254


def test_unigram():
    pytest.importorskip("sentencepiece", reason="extra study is not installed")
    text = strategies.zipf_text()
    counts = count([text])
    model = learn_unigram(counts, 60)
    assert len(model.tokens) == len(set(model.tokens)) == 60
    assert all(token in text.encode() for token in model.tokens)
    total = model.length(counts, threads=2)
    fewest = shortest_lengths([bytes([b]) for b in range(256)] + model.tokens, counts)
    assert fewest <= total < counts.total_bytes
    # Bytes that the corpus lacks are tokens too.
    assert model.length(ChunkCounts.from_mapping({b"\x00\xff": 3, b" \t\n": 2})) == 3 * 2 + 2 * 3
    with pytest.raises(InsufficientCandidatesError, match="500 tokens"):
        learn_unigram(counts, 500)


def test_lengths_on_another_corpus():
    merges = learn(ChunkCounts.from_mapping(COUNTS), 4)
    other = ChunkCounts.from_mapping({b"hatthe": 3, b"tat": 1})
    applied = replay(merges, other)
    assert lengths_by_prefix(applied)[4] == 3 * 3 + 2
    hidden = trim(merges, 3, 1)
    assert hidden.length(merges.pairs, applied) == 3 * 3 + 2
