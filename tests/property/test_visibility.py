"""Statements about visibility that hold for every corpus, threshold and hidden set."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import byte_chunk_counts, chunk_counts, hidden_ranks

from prunedbpe import ChunkCounts, _core, learn, prune, reference, replay
from prunedbpe.errors import InsufficientCandidatesError
from prunedbpe.visibility.by_rank import hide
from prunedbpe.visibility.exposure import (
    encoded_length,
    exposure,
    flow,
    lengths_by_prefix,
    total_tokens,
)
from prunedbpe.visibility.threshold import decide_visibility

ALL = 10_000  # more merges than any small corpus has
any_counts = chunk_counts() | byte_chunk_counts()


def learned(counts):
    return learn(ChunkCounts.from_mapping(counts), ALL)


def pairs_of(merges):
    return [tuple(pair) for pair in merges.pairs.tolist()]


def pruned(merges, required, threshold, **options):
    return prune(merges, 256 + required, threshold=threshold, special_tokens=(), **options)


def internal(tokenizer):
    return set(np.flatnonzero(~tokenizer.vocabulary.visible).tolist())


@given(st.data(), any_counts, any_counts)
def test_lengths_exposures_and_flows_are_what_looking_at_the_corpus_gives(data, counts, others):
    merges = learned(counts)
    merge_count = data.draw(st.integers(0, len(merges)))
    ranks = data.draw(hidden_ranks(merge_count))
    hidden = np.zeros(256 + merge_count, bool)
    hidden[list(ranks)] = True
    pairs = pairs_of(merges)[:merge_count]
    for corpus, applied in (
        (counts, merges.applied),
        (others, replay(merges, ChunkCounts.from_mapping(others))),
    ):
        segmented = reference.segment(pairs, corpus)
        tokens = sum(len(chunk) * count for chunk, count in segmented)
        assert total_tokens(applied, merge_count) == tokens
        assert lengths_by_prefix(applied)[merge_count] == tokens
        exposures = exposure(merges.pairs, applied, merge_count)
        assert exposures.tolist() == reference.exposure(segmented, merge_count)
        flows = flow(merges.pairs, exposures, hidden)
        assert flows.tolist() == reference.flow(segmented, pairs, ranks)
        length = encoded_length(merges.pairs, applied, hidden)
        assert length == reference.encoded_length(segmented, pairs, ranks)


@given(st.data(), any_counts)
def test_internal_sets_nest_where_exposure_is_measured_after_the_same_merges(data, counts):
    merges = learned(counts)
    exposures = exposure(merges.pairs, merges.applied)[256:]
    required = data.draw(st.integers(0, len(merges)))
    before: set[int] = set()
    for least in range(1, int(exposures.max(initial=0)) + 2):
        if (exposures >= least).sum() < required:
            break
        decided = decide_visibility(exposures, required, least)
        now = set(np.flatnonzero(decided == 1).tolist())
        assert before <= now
        before = now


@given(st.data(), any_counts)
def test_internal_sets_nest_where_the_higher_threshold_has_learned_as_far(data, counts):
    merges = learned(counts)
    required = data.draw(st.integers(0, len(merges)))
    known = []
    for least in range(int(merges.frequencies.max(initial=0)) + 1):
        try:
            tokenizer = pruned(merges, required, least)
        except InsufficientCandidatesError:
            continue
        known.append((tokenizer.training["trained_vocab"], internal(tokenizer)))
    for i, (trained, hidden) in enumerate(known):
        for trained_higher, hidden_higher in known[i + 1 :]:
            if trained_higher >= trained:
                assert hidden <= hidden_higher


def test_batches_can_make_a_lower_threshold_learn_farther_and_hide_another_token():
    # Exposure is looked at only at the ends of batches. Here 100 tokens are missing at the lower
    # threshold and 110 at the higher one, so batches are 111 and 122 merges. After 111 one is
    # still missing, after 122 none: the lower threshold learns 25 more, and one of those merges
    # uses up the token (0, 250), which the higher threshold still finds exposed.
    counts = {}
    for i in range(111):
        counts[bytes([i, 250, i])] = 1000
        if i == 0:
            counts |= {bytes([i, 250, 251]): 25, bytes([i, 250]): 3}
        elif i <= 10:
            counts[bytes([i, 250])] = 15
    counts |= {bytes([i, 253, i]): 500 for i in range(12)}
    counts |= {bytes([i, 252]): 500 for i in range(87)}
    counts |= {bytes([i, 254]): 100 for i in range(11)}
    merges = learned(counts)
    lower, higher = pruned(merges, 222, 10), pruned(merges, 222, 20)
    assert lower.training["trained_vocab"] > higher.training["trained_vocab"] == 256 + 222 + 122
    assert internal(lower) - internal(higher) == {256}
    assert lower.vocabulary.strings[256] == bytes([0, 250])


@given(st.data(), any_counts)
def test_every_internal_token_supports_a_visible_one_or_is_reported(data, counts):
    merges = learned(counts)
    required = data.draw(st.integers(0, len(merges)))
    threshold = data.draw(st.sampled_from(["auto", "40%", "100%", 2, 3]))
    validated = threshold == "auto" and data.draw(st.booleans())
    options = {"validation": ChunkCounts.from_mapping(counts)} if validated else {}
    try:
        vocabulary = pruned(merges, required, threshold, **options).vocabulary
    except InsufficientCandidatesError:
        return
    reported = set(vocabulary.unsupported_internal())
    assert all(not vocabulary.visible[rank] for rank in reported)
    for rank in set(np.flatnonzero(~vocabulary.visible).tolist()) - reported:
        above, waiting = set(), [rank]
        while waiting:
            parents = set(vocabulary.parents(waiting.pop())) - above
            above |= parents
            waiting += parents
        assert any(vocabulary.visible[parent] for parent in above)
    # Nobody needs them: without their merges no visible token is built differently.
    for rank in reported:
        assert not any(vocabulary.visible[parent] for parent in vocabulary.parents(rank))


@given(st.data(), chunk_counts(max_chunks=14, max_count=9))
def test_auto_on_its_own_corpus_is_never_worse_than_a_threshold(data, counts):
    merges = learned(counts)
    required = data.draw(st.integers(0, len(merges)))
    auto = pruned(merges, required, "auto", validation=ChunkCounts.from_mapping(counts))
    for least in range(int(merges.frequencies.max(initial=0)) + 1):
        try:
            by_threshold = pruned(merges, required, least)
        except InsufficientCandidatesError:
            continue
        assert auto.training["encoded_length"] <= by_threshold.training["encoded_length"]


@given(st.data(), any_counts)
def test_greedy_hiding_equals_plain_python_ties_included(data, counts):
    merges = learned(counts)
    merge_count = data.draw(st.integers(0, min(len(merges), 24)))
    count = data.draw(st.integers(0, merge_count))
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=1, max_size=3))
    exponent = data.draw(st.sampled_from([1.0, 0.8, 0.5]))
    whole = exposure(merges.pairs, merges.applied, merge_count)
    # Any division by source will do; the last source gets what the others leave.
    shares = [whole * (i + 1) // 7 for i in range(len(weights) - 1)]
    exposures = np.stack([*shares, whole - sum(shares)], axis=1)
    prices = data.draw(
        st.none()
        | st.lists(
            st.sampled_from([0.0, 0.25, 0.5, 0.85, 1.0]),
            min_size=256 + merge_count,
            max_size=256 + merge_count,
        )
    )
    fast = _core.hide_cheapest(
        merges.pairs[:merge_count],
        exposures.ravel(),
        np.array(weights),
        exponent,
        np.ones(256 + merge_count) if prices is None else np.array(prices),
        count,
    )
    slow = reference.hide_cheapest(
        pairs_of(merges)[:merge_count],
        exposures.tolist(),
        count,
        weights=weights,
        exponent=exponent,
        prices=prices,
    )
    assert fast.tolist() == slow


def hide_plainly(pairs, exposures, count):
    """Hide the cheapest with one source, and all prices the same."""
    return _core.hide_cheapest(
        pairs, exposures, np.ones(1), 1.0, np.ones(256 + len(pairs)), count
    ).tolist()


@given(st.data(), any_counts)
def test_the_first_hidden_of_many_are_those_hidden_of_few(data, counts):
    merges = learned(counts)
    exposures = exposure(merges.pairs, merges.applied)
    few = data.draw(st.integers(0, len(merges)))
    order = hide_plainly(merges.pairs, exposures, len(merges))
    assert order[:few] == hide_plainly(merges.pairs, exposures, few)
    assert sorted(order) == list(range(256, 256 + len(merges)))


@pytest.mark.parametrize("exposures, prices, count", [(9, 9, 0), (257, 256, 0), (257, 257, 2)])
def test_greedy_hiding_refuses_arrays_that_do_not_fit(exposures, prices, count):
    pairs = np.array([[97, 98]], np.uint32)
    with pytest.raises(ValueError, match=r"exposure and price|more tokens to hide"):
        _core.hide_cheapest(
            pairs, np.ones(exposures, np.int64), np.ones(1), 1.0, np.ones(prices), count
        )


def test_hiding_deep_tokens_does_not_exhaust_the_stack():
    # A token of 20,000 letters, built one letter at a time; every rung is hidden.
    depth = 20_000
    letters = [random.Random(0).randrange(256) for _ in range(depth)]
    pairs = [(letters[0], letters[1])]
    pairs += [(256 + i, letter) for i, letter in enumerate(letters[2:])]
    exposures = np.zeros(256 + len(pairs), np.int64)
    exposures[-1] = 5
    order = hide_plainly(np.array(pairs, np.uint32), exposures, len(pairs) - 1)
    assert 255 + len(pairs) not in order


@given(st.data(), any_counts)
def test_hiding_leaves_as_many_visible_as_asked(data, counts):
    merges = learned(counts)
    merge_count = data.draw(st.integers(0, len(merges)))
    required = data.draw(st.integers(0, merge_count))
    hidden = hide(merges, [merges.applied], merge_count, required)
    assert not hidden[:256].any() and len(hidden) == 256 + merge_count
    assert (~hidden[256:]).sum() == required
