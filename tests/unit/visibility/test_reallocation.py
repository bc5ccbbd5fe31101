"""Reallocation: the batch rule, the cap, and errors that say what is missing and what to change."""

from __future__ import annotations

import pytest

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, learn
from prunedbpe.errors import InsufficientCandidatesError, SettingsError
from prunedbpe.reference import reallocation_batch as defined_batch
from prunedbpe.visibility.threshold import Threshold, reallocate, reallocation_batch

# Exposure after all four merges: "at" 2, "th" 1, "the" 2, "cat" 2
COUNTS = ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1})
ALL = learn(COUNTS, 100)


def test_batch_rule_is_the_defined_one():
    for missing in range(1, 5000):
        assert reallocation_batch(missing) == defined_batch(missing)


def test_learns_on_in_batches():
    asked = []

    class Candidates:
        def reach(self, merge_count):
            asked.append(merge_count)
            return ALL

    merges, min_exposure, exposures = reallocate(Candidates(), 3, Threshold.parse("100%"))
    assert (len(merges), min_exposure) == (4, 2)
    assert exposures[256:].tolist() == [2, 1, 2, 2]
    assert asked == [3, 3 + 25]


def test_no_batch_when_enough_are_there():
    merges, min_exposure, _ = reallocate(ALL, 2, Threshold.parse(1))
    assert (len(merges), min_exposure) == (2, 1)


def test_out_of_pairs():
    with pytest.raises(
        InsufficientCandidatesError,
        match=r"0 learned tokens have an exposure of at least 3; this vocabulary needs 3, and "
        r"after 4 merges no pair occurs twice\nhint: lower the threshold",
    ):
        reallocate(ALL, 3, Threshold.parse(3))


def test_out_of_pairs_before_the_threshold_matters():
    with pytest.raises(InsufficientCandidatesError, match=r"at most 4 learned tokens; .* needs 9"):
        reallocate(ALL, 9, Threshold.parse(0))


def test_cap():
    with pytest.raises(
        InsufficientCandidatesError,
        match=r"2 learned tokens .* needs 3, and max_train_vocab=259 allows no further "
        r"merge\nhint: raise max_train_vocab",
    ):
        reallocate(ALL, 3, Threshold.parse("100%"), max_train_vocab=259)
    found = reallocate(ALL, 3, Threshold.parse("100%"), max_train_vocab=260)
    assert len(found.merges) == 4


def test_cap_without_room():
    with pytest.raises(SettingsError, match=r"max_train_vocab=258 is below the 259"):
        reallocate(ALL, 3, Threshold.parse("100%"), max_train_vocab=258)


def test_table_that_ends_too_soon():
    short = ALL.head(3)
    with pytest.raises(
        InsufficientCandidatesError, match=r"only 3 merges were learned\nhint: learn more merges"
    ):
        reallocate(short, 3, Threshold.parse("100%"))


@pytest.mark.parametrize("threshold", [10**30, "1000000%", 7])
def test_a_threshold_out_of_reach_is_an_error_and_no_endless_loop(threshold):
    with pytest.raises(InsufficientCandidatesError):
        prunedbpe.train(
            Corpus.from_texts(["the cat", "the hat", "that cat"] * 2), 262, threshold=threshold
        )
