"""Learning is a function of the ordered corpus: threads, steps and interruptions do not matter."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from implementations import NATIVE, NATIVE_THREADS, SPLIT_FROM, WIDE, Native, learned_of
from strategies import byte_chunk_counts, chunk_counts

import prunedbpe
from prunedbpe import ChunkCounts, Learner, MergeTable
from prunedbpe.reference import learn, replay

every_native = pytest.mark.parametrize("native", NATIVE, ids=lambda native: native.name)

huge = chunk_counts(b"ab", max_count=3).map(
    lambda counts: {chunk: count * 2**33 - (count == 2) for chunk, count in counts.items()}
)
corpora = st.one_of(
    chunk_counts(b"a", max_size=20),
    chunk_counts(b"ab"),
    chunk_counts(b"abc", max_chunks=12),
    chunk_counts(b"ab", max_chunks=3, max_size=60),
    chunk_counts(b"abcdefghijkl", max_chunks=12),
    byte_chunk_counts(),
    huge,
)


@pytest.mark.parametrize("native", (*NATIVE, *WIDE), ids=lambda native: native.name)
@settings(max_examples=3 * settings.default.max_examples)
@given(counts=corpora)
def test_native_equals_plain_python(native, counts):
    assert native.learn(counts, 40) == learn(counts, 40)


@every_native
@given(counts=corpora, first=st.integers(0, 30), second=st.integers(0, 30))
def test_steps_do_not_matter(native, counts, first, second):
    learner = Learner(
        ChunkCounts.from_mapping(counts), threads=native.threads, split_from=SPLIT_FROM
    )
    for merge_count in (first, second, 40):
        merges = learner.reach(merge_count)
    assert learned_of(merges) == learn(counts, 40)


@every_native
@given(counts=corpora, stop=st.integers(0, 40))
def test_interrupted_and_resumed(native, counts, stop, tmp_path_factory):
    table = ChunkCounts.from_mapping(counts)
    path = tmp_path_factory.getbasetemp() / f"resumed-{native.threads}.parquet"
    prunedbpe.learn(table, stop).save(path)
    resumed = Learner(table, MergeTable.load(path), threads=native.threads, split_from=SPLIT_FROM)
    assert learned_of(resumed.reach(40)) == learned_of(prunedbpe.learn(table, 40))


@given(chunk_counts(b"ab", max_chunks=4), st.sampled_from(NATIVE_THREADS))
def test_interrupted_after_every_merge(counts, threads):
    table = ChunkCounts.from_mapping(counts)
    merges = None
    for merge_count in range(1, 12):
        learner = Learner(table, merges, threads=threads, split_from=SPLIT_FROM)
        merges = learner.reach(merge_count)
    assert learned_of(merges) == learn(counts, 11)


@every_native
@given(counts=corpora, other=corpora)
def test_replay_on_another_corpus(native: Native, counts, other):
    merges = learn(counts, 40).merges
    assert native.replay(merges, other) == replay(merges, other)


@given(corpora)
def test_exhausted_means_no_pair_is_left(counts):
    whole = learn(counts, 1000)
    table = ChunkCounts.from_mapping(counts)
    assert prunedbpe.learn(table, len(whole.merges) + 1).exhausted
    at_the_end = prunedbpe.learn(table, len(whole.merges))
    assert len(at_the_end) == len(whole.merges)
    # Resumed at the very end there is nothing to learn, which is to be known from then on.
    assert prunedbpe.learn(table, 2000, merges=at_the_end).exhausted
