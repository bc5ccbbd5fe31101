"""Merge tables and the learner around the native one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import prunedbpe
from prunedbpe import Applied, ChunkCounts, Learner, MergeTable, learn, reference, replay
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.merges import Checkpointer
from prunedbpe.pretokenizers import Pretokenizer

COUNTS = ChunkCounts.from_mapping({b"the": 3, b"that": 2, b"hat": 4, b"cat": 1})


def test_round_trip(tmp_path):
    merges = learn(COUNTS, 3)
    merges.save(tmp_path / "a.parquet")
    loaded = MergeTable.load(tmp_path / "a.parquet")
    assert loaded.pairs.tolist() == merges.pairs.tolist()
    assert loaded.pairs.dtype == np.uint32
    assert loaded.frequencies.tolist() == merges.frequencies.tolist()
    assert loaded.applied.replacements.tolist() == merges.applied.replacements.tolist()
    assert loaded.applied.byte_counts.tolist() == merges.applied.byte_counts.tolist()
    assert loaded.counts_digest == COUNTS.digest
    assert (loaded.pretokenizer, loaded.corpus) == (COUNTS.pretokenizer, COUNTS.corpus)
    assert not loaded.exhausted


def test_no_merges_round_trip(tmp_path):
    merges = learn(ChunkCounts.from_mapping({b"a": 5}), 3)
    assert merges.exhausted
    merges.save(tmp_path / "a.parquet")
    assert len(MergeTable.load(tmp_path / "a.parquet")) == 0
    assert MergeTable.load(tmp_path / "a.parquet").exhausted


def test_head_is_as_if_learning_had_stopped():
    whole = learn(COUNTS, 100)
    assert whole.exhausted
    for merge_count in range(len(whole)):
        head, stopped = whole.head(merge_count), learn(COUNTS, merge_count)
        assert head.pairs.tolist() == stopped.pairs.tolist()
        assert head.frequencies.tolist() == stopped.frequencies.tolist()
        assert not head.exhausted
    assert whole.head(len(whole)) is whole


@pytest.mark.parametrize(
    ("frequencies", "replacements", "byte_counts", "message"),
    [
        ([1, 2], [1], 256, "1 merges with 2 frequencies"),
        ([1], [1, 2], 256, "2 applied counts"),
        ([1], [1], 2, "counts of 2 bytes"),
        ([-1], [1], 256, "merge 0 has a negative"),
        ([1], [-1], 256, "merge 0 has a negative"),
    ],
)
def test_tables_that_make_no_sense(frequencies, replacements, byte_counts, message):
    with pytest.raises(FormatError, match=message):
        MergeTable(
            np.array([[97, 98]], np.uint32),
            np.array(frequencies),
            Applied(np.zeros(byte_counts, np.int64), np.array(replacements)),
        )


def test_given_merges_longer_than_asked_for():
    merges = learn(COUNTS, 4)
    assert learn(COUNTS, 2, merges=merges).pairs.tolist() == merges.pairs[:2].tolist()


def test_merges_of_other_counts_are_refused():
    with pytest.raises(SettingsError, match="other chunk counts"):
        Learner(ChunkCounts.from_mapping({b"ab": 2}), learn(COUNTS, 2))
    with pytest.raises(SettingsError, match="merge_count is -1"):
        learn(COUNTS, -1)


def test_replay_needs_chunks_cut_alike():
    other = ChunkCounts.from_mapping({b"ab": 2}, Pretokenizer("gpt2"))
    with pytest.raises(SettingsError, match="gpt2"):
        replay(learn(COUNTS, 2), other)


@pytest.mark.parametrize("pairs", [[(97, 98)] * 2, [(97, 98), (256, 99), (256, 99)]])
def test_of_a_pair_given_twice_the_first_merge_counts(pairs):
    counts = {b"abc": 2}
    expected = reference.replay(pairs, counts)
    found = replay(MergeTable.from_pairs(pairs), ChunkCounts.from_mapping(counts))
    assert found.replacements.tolist() == expected


@pytest.mark.parametrize("threads", [-1, 10**6])
def test_a_number_of_threads_that_makes_no_sense(threads):
    with pytest.raises(SettingsError, match=f"threads is {threads}"):
        learn(COUNTS, 2, threads=threads)
    with pytest.raises(SettingsError, match=f"threads is {threads}"):
        replay(learn(COUNTS, 2), COUNTS, threads=threads)
    with pytest.raises(SettingsError, match=f"threads is {threads}"):
        prunedbpe.count(iter(["a"]), threads=threads)


def test_memory_is_reported():
    learner = Learner(COUNTS)
    assert learner.memory == 0
    learner.reach(1)
    assert learner.memory > 0


def test_progress_and_steps_add_up():
    class Watch:
        def __init__(self):
            self.done = 0

        def task(self, name, *, total, unit):
            assert (name, unit) == ("Learning", "merges")
            return self

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def advance(self, amount, *, text_bytes=0):
            self.done += amount

    watch, saved = Watch(), []
    checkpoints = Checkpointer(lambda merges: saved.append(len(merges)))
    learner = Learner(COUNTS, progress=watch, checkpoints=checkpoints)
    assert len(learner.reach(3)) == 3
    assert len(learner.reach(2)) == 3
    assert (watch.done, saved) == (3, [3])
    merges = learner.reach(10**6)
    assert merges.exhausted and len(merges) == watch.done


def test_a_table_stays_as_it_is_while_its_learner_goes_on():
    # A table is a copy: the learner may grow, move or go.
    words = [
        bytes([97 + i % 26, 97 + i // 26 % 26, 97 + i // 676, 33 + i % 90]) for i in range(9000)
    ]
    learner = Learner(ChunkCounts.from_mapping(dict.fromkeys(words, 2)))
    table = learner.reach(1000)
    before = [table.pairs.tolist(), table.frequencies.tolist(), table.applied.replacements.tolist()]
    longer = learner.reach(6000)
    assert len(table) == 1000 < len(longer)
    assert longer.pairs[:1000].tolist() == before[0]
    del learner
    after = [table.pairs.tolist(), table.frequencies.tolist(), table.applied.replacements.tolist()]
    assert after == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"replacements": (0, 1)}, "merge 0 claims 26 replacements, but makes 25"),
        ({"frequencies": (2, 5)}, "merge 2 claims the frequency"),
        ({"byte_counts": (97, 1)}, "not those of the counts"),
        ({"pairs": (3, -2)}, "merge 3 claims"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_list_that_does_not_do_what_it_claims(change, message):
    counts = ChunkCounts.from_mapping({b"that": 7, b"hat": 13, b"cat": 5, b"aaaa": 3, b"then": 4})
    merges = prunedbpe.learn(counts, 8)
    ((name, (place, amount)),) = change.items()
    pairs, frequencies = merges.pairs.copy(), merges.frequencies.copy()
    byte_counts = merges.applied.byte_counts.copy()
    replacements = merges.applied.replacements.copy()
    changed = {
        "pairs": pairs[:, 1], "frequencies": frequencies,
        "byte_counts": byte_counts, "replacements": replacements,
    }[name]  # fmt: skip
    changed[place] = int(changed[place]) + amount
    lying = replace(
        merges,
        pairs=pairs,
        frequencies=frequencies,
        applied=Applied(byte_counts, replacements),
    )
    with pytest.raises(FormatError, match=message):
        prunedbpe.learn(counts, 10, merges=lying)
    assert len(prunedbpe.learn(counts, 10, merges=merges)) >= 8
