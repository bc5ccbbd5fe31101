"""What tokens are worth to the shortest segmentation: native code against plain Python."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import byte_chunk_counts, chunk_counts

from prunedbpe import ChunkCounts, SourceCounts, _core, learn
from prunedbpe.merges import MergeTable
from prunedbpe.reference import fewest_tokens as plain
from prunedbpe.visibility.fewest import Chooser, FewestCorpus
from prunedbpe.visibility.source_values import TRUSTING, ValueRule

any_counts = chunk_counts() | byte_chunk_counts()


@st.composite
def corpora(draw):
    """Merges, and a corpus divided into sources at random: by chunk, counts in each source."""
    counts = draw(any_counts)
    merges = learn(ChunkCounts.from_mapping(counts), draw(st.integers(0, 12)))
    sources = draw(st.integers(1, 3))
    divided = {}
    for chunk, count in counts.items():
        cuts = sorted(draw(st.integers(0, count)) for _ in range(sources - 1))
        bounds = [0, *cuts, count]
        divided[chunk] = [end - begin for begin, end in pairwise(bounds)]
    return merges, divided


def sources_of(divided: dict[bytes, list[int]]) -> SourceCounts:
    number = len(next(iter(divided.values()), [0]))
    cells = [
        (i, source, count)
        for i, by_source in enumerate(divided.values())
        for source, count in enumerate(by_source)
        if count
    ]
    rows, columns, counts = (
        (list(column) for column in zip(*cells, strict=True)) if cells else [()] * 3
    )
    offsets = np.searchsorted(np.array(rows), np.arange(len(divided) + 1)).astype(np.int64)
    return SourceCounts(
        ChunkCounts.from_mapping({chunk: sum(by) for chunk, by in divided.items()}),
        tuple(f"source {i}" for i in range(number)),
        offsets,
        np.array(columns, np.uint32),
        np.array(counts, np.int64),
    )


def by_rank(found, merges: MergeTable, sources: int) -> list[list[int]]:
    """What plain Python found for some tokens, as a table by rank and source."""
    return [found.get(token, [0] * sources) for token in merges.token_bytes]


@given(corpora(), st.data(), st.sampled_from([1, 3]))
def test_losses_gains_and_lengths(corpus, data, threads):
    merges, divided = corpus
    if not divided:
        return
    found = FewestCorpus(merges, sources_of(divided), threads=threads)
    number = len(next(iter(divided.values())))
    ranks = range(256, 256 + len(merges))
    for _ in range(3):
        found.flip(data.draw(st.lists(st.sampled_from(ranks), unique=True)) if ranks else [])
        visible = {merges.token_bytes[rank] for rank in ranks if found.visible[rank]}
        hidden = [merges.token_bytes[rank] for rank in ranks if not found.visible[rank]]
        assert found.lengths.tolist() == plain.lengths(divided, visible)
        assert found.losses.tolist() == by_rank(plain.losses(divided, visible), merges, number)
        rule, weights = ValueRule(0.5, 0.0), np.arange(1.0, number + 1)
        expected = [
            plain.value(savings, weights.tolist(), rule.exponent)
            for savings in found.losses.tolist()
        ]
        assert found.loss_values(rule, weights).tolist() == expected
        assert rule.values(found.losses, weights).tolist() == expected
        gains = plain.gains(divided, visible, hidden)
        assert found.gains.tolist() == by_rank(gains, merges, number)


@given(corpora(), st.data(), st.sampled_from([1.0, 0.5]))
def test_elimination(corpus, data, exponent):
    merges, divided = corpus
    if not divided:
        return
    number = len(next(iter(divided.values())))
    required = data.draw(st.integers(0, len(merges)))
    weights = data.draw(
        st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=number, max_size=number)
    )
    native = FewestCorpus(merges, sources_of(divided), threads=2)
    native.show(np.ones(len(native.visible), bool))
    rule = ValueRule(exponent, 0.25)
    Chooser(native, required, rule).eliminate(np.array(weights))
    candidates = merges.token_bytes[256:]
    prices = {t: 1.0 if place < required else 0.75 for place, t in enumerate(candidates)}
    expected = plain.eliminate(
        divided, candidates, set(candidates), required, weights, exponent, prices
    )
    shown = {t for t, is_shown in zip(candidates, native.visible[256:], strict=True) if is_shown}
    assert shown == expected


def test_the_choice_is_nearly_always_the_best_of_all():
    """Brute force over every visible set of 60 tiny corpora."""
    best_found, lengths, optima = 0, 0, 0
    for seed in range(60):
        source = random.Random(seed)
        counts = {}
        for _ in range(14):
            chunk = bytes(source.choices(b"abcd", k=source.randrange(2, 9)))
            counts[chunk] = counts.get(chunk, 0) + source.randrange(1, 12)
        merges = learn(ChunkCounts.from_mapping(counts), 12)
        required = len(merges) // 2
        sources = SourceCounts.single(ChunkCounts.from_mapping(counts))
        corpus = FewestCorpus(merges, sources)
        no_limit = np.array([10**9])
        choice, _ = Chooser(corpus, required, TRUSTING).choose(no_limit, np.ones(1))
        divided = {chunk: [count] for chunk, count in counts.items()}
        optimum = min(
            plain.lengths(divided, set(visible))[0]
            for visible in combinations(merges.token_bytes[256:], required)
        )
        assert choice.lengths[0] >= optimum
        best_found += int(choice.lengths[0]) == optimum
        lengths, optima = lengths + int(choice.lengths[0]), optima + optimum
    assert best_found >= 50
    assert lengths < 1.005 * optima


def test_threads_do_not_matter_and_long_chunks_have_exact_lengths():
    source = random.Random(0)
    long = bytes(source.choices(b"abc", k=5000))
    counts = ChunkCounts.from_mapping(
        {long: 2, **{bytes(source.choices(b"abc", k=7)): 3 for _ in range(3000)}}
    )
    merges = learn(counts, 200)
    shown = [*range(256, 300), *range(400, 456)]
    visible = {merges.token_bytes[rank] for rank in shown} | {bytes([i]) for i in range(256)}
    length = sum(count * plain.fewest(chunk, visible) for chunk, count in counts.items())
    alone = FewestCorpus(merges, SourceCounts.single(counts), threads=1)
    alone.flip(shown)
    assert alone.lengths[0] == length
    for threads in (1, 4, 7):
        corpus = FewestCorpus(merges, SourceCounts.single(counts), threads=threads)
        corpus.flip(list(range(256, 456)))
        corpus.flip(list(range(300, 400)))
        assert (alone.visible == corpus.visible).all()
        assert (alone.lengths == corpus.lengths).all()
        assert (alone.losses == corpus.losses).all() and (alone.gains == corpus.gains).all()


def test_a_token_that_matches_twice_is_judged_as_one():
    merges = MergeTable.from_pairs([(97, 97)])
    corpus = FewestCorpus(merges, SourceCounts.single(ChunkCounts.from_mapping({b"aaa": 5})))
    assert corpus.gains[256].tolist() == [5]  # aa a, or a aa
    corpus.flip([256])
    assert corpus.losses[256].tolist() == [5]


def test_wrong_flips_and_sources_are_refused():
    merges = MergeTable.from_pairs([(97, 98)])
    counts = ChunkCounts.from_mapping({b"ab": 2})
    corpus = FewestCorpus(merges, SourceCounts.single(counts))
    for ranks, message in (
        ([255], "rank 255 is not"),
        ([257], "rank 257 is not"),
        ([256, 256], "twice"),
    ):
        with pytest.raises(ValueError, match=message):
            corpus.flip(ranks)
    corpus.flip([256])  # a refused flip changed nothing
    assert corpus.lengths.tolist() == [2]
    strings = np.arange(256, dtype=np.uint8), np.arange(257, dtype=np.int64)
    for offsets, sources, message in (
        ([0, 2], [0], "another table"),
        ([0, 1], [1], "does not exist"),
    ):
        with pytest.raises(ValueError, match=message):
            _core.FewestTokens(
                *counts.columns[:3],
                np.array(offsets, np.int64),
                np.array(sources, np.uint32),
                np.ones(1, np.int64),
                1,
                *strings,
                1,
            )
