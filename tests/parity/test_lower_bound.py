"""The lower bound: native evaluation against plain Python, and both against brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from implementations import NATIVE_THREADS
from strategies import chunk_counts, zipf_text

import prunedbpe
from prunedbpe import ChunkCounts, _core
from prunedbpe.reference import lower_bound as plain
from prunedbpe.visibility.lower_bound import lower_bound, lower_bound_of_any_vocabulary

UNIT = _core.LowerBound.unit
BYTES = [bytes([byte]) for byte in range(256)]

corpora = chunk_counts(b"ab", max_chunks=4, max_size=7) | chunk_counts(b"abc", max_chunks=5)
tiny_corpora = chunk_counts(b"ab", max_chunks=3, max_size=5)


def substrings(counts):
    return sorted(
        {
            chunk[begin:end]
            for chunk in counts
            for begin in range(len(chunk))
            for end in range(begin + 2, len(chunk) + 1)
        }
    )


def some_candidates(draw, counts, most):
    every = substrings(counts)
    return draw(st.lists(st.sampled_from(every), max_size=most, unique=True)) if every else []


def native_bound(counts, candidates, required, threads=1):
    table = ChunkCounts.from_mapping(counts)
    strings = BYTES + candidates
    offsets = np.cumsum([0, *map(len, strings)], dtype=np.int64)
    flat = np.frombuffer(b"".join(strings), np.uint8)
    return _core.LowerBound(*table.columns[:3], flat, offsets, required, threads)


def plain_multipliers(counts, candidates, native):
    edges = plain.matches(counts, set(candidates))
    values = [Fraction(value, UNIT) for value in native.multipliers().tolist()]
    return dict(zip(edges, values, strict=True))


@pytest.mark.parametrize("threads", NATIVE_THREADS)
@given(counts=corpora, required=st.integers(0, 6), data=st.data())
def test_any_multipliers_give_the_same_bound(threads, counts, required, data):
    candidates = some_candidates(data.draw, counts, most=12)
    native = native_bound(counts, candidates, required, threads)
    edge_count = len(native.multipliers())
    numbers = st.integers(0, 2 * UNIT) | st.integers(0, 65535)
    drawn = data.draw(st.lists(numbers, min_size=edge_count, max_size=edge_count))
    native.set_multipliers(np.array(drawn, np.uint16))
    multipliers = plain_multipliers(counts, candidates, native)
    bound = plain.lagrangian(counts, multipliers, required)
    assert Fraction(native.evaluate(), UNIT) == bound
    every = plain.with_all_substrings(counts, multipliers)
    assert Fraction(native.evaluate_any(), UNIT) == plain.lagrangian(counts, every, required)


@given(counts=corpora, required=st.integers(1, 6), data=st.data())
def test_the_search_reports_what_its_multipliers_prove(counts, required, data):
    candidates = some_candidates(data.draw, counts, most=12)
    native = native_bound(counts, candidates, required)
    best = Fraction(0)
    for heat in (1.0, 0.7, 0.3, 0.0):
        multipliers = plain_multipliers(counts, candidates, native)
        best = max(best, plain.lagrangian(counts, multipliers, required))
        native.ascend(heat)
        assert Fraction(native.best, UNIT) == best


@given(counts=corpora, required=st.integers(1, 4), data=st.data())
def test_added_candidates_keep_the_multipliers_of_the_others(counts, required, data):
    candidates = some_candidates(data.draw, counts, most=6)
    native = native_bound(counts, candidates, required)
    native.ascend(1.0)
    before = plain_multipliers(counts, candidates, native)
    flat, offsets = native.unlisted(3)
    bounds = offsets.tolist()
    added = [flat.tobytes()[begin:end] for begin, end in pairwise(bounds)]
    assert not set(added) & set(candidates)
    assert len(added) <= 3
    native.add(flat, offsets)
    after = plain_multipliers(counts, candidates + added, native)
    assert {edge: after[edge] for edge in before} == before
    bound = plain.lagrangian(counts, after, required)
    assert Fraction(native.evaluate(), UNIT) == bound


@given(counts=corpora, required=st.integers(0, 3), data=st.data())
def test_no_choice_of_candidates_undercuts_the_bound(counts, required, data):
    candidates = some_candidates(data.draw, counts, most=7)
    bound = lower_bound(ChunkCounts.from_mapping(counts), candidates, required, passes=20)
    optimum = plain.fewest_tokens_of_any_choice(counts, set(candidates), required)
    assert sum(counts.values()) <= bound.tokens <= optimum


@given(counts=tiny_corpora, required=st.integers(0, 2), data=st.data())
def test_no_vocabulary_undercuts_the_bound(counts, required, data):
    candidates = some_candidates(data.draw, counts, most=3)
    table = ChunkCounts.from_mapping(counts)
    bound = lower_bound_of_any_vocabulary(table, candidates, required)
    optimum = plain.fewest_tokens_of_any_choice(counts, set(substrings(counts)), required)
    assert sum(counts.values()) <= bound.tokens <= optimum


def test_the_bound_is_nearly_always_the_optimum_of_a_small_corpus():
    """It may fall short where half of a token would help: the relaxation allows that."""
    words = zipf_text(4).split()
    reached, total = 0, 0
    for start in range(12):
        counts = {}
        for word in words[2 * start : 2 * start + 8]:
            counts[word.encode()] = counts.get(word.encode(), 0) + 1
        candidates = substrings(counts)[::4][:9]
        optimum = plain.fewest_tokens_of_any_choice(counts, set(candidates), 3)
        bound = lower_bound(ChunkCounts.from_mapping(counts), candidates, 3).tokens
        assert optimum - bound <= 1
        reached += bound == optimum
        total += 1
    assert reached >= 0.75 * total


@pytest.mark.parametrize("bound", [lower_bound, lower_bound_of_any_vocabulary])
def test_threads_do_not_change_the_bound(bound):
    counts = prunedbpe.count([zipf_text(400)])
    merges = prunedbpe.learn(counts, 120)
    results = [bound(counts, merges, 40, threads=threads) for threads in (1, 4, 7)]
    assert results[0] == results[1] == results[2]


def test_without_a_choice_the_bound_is_the_length():
    """Where all candidates are visible; other strings can then still save a little."""
    counts = prunedbpe.count([zipf_text(400)])
    merges = prunedbpe.learn(counts, 120)
    strings = [string for string in merges.token_bytes if len(string) > 1]
    length = native_bound(dict(counts.items()), strings, 120).evaluate() // UNIT
    assert lower_bound(counts, merges, 120).tokens == length
    assert 0.9 * length < lower_bound_of_any_vocabulary(counts, merges, 120).tokens <= length
