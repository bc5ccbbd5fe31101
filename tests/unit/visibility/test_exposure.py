"""Exposure, flow and length on a corpus small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from prunedbpe import ChunkCounts, learn
from prunedbpe.visibility.exposure import (
    encoded_length,
    exposure,
    flow,
    lengths_by_prefix,
    total_tokens,
)

# "ha" (6 times), then "hat" (5 times), then "that" (2 times)
MERGES = learn(ChunkCounts.from_mapping({b"hat": 3, b"that": 2, b"ha": 1}), 3)


def hidden(*ranks: int, merge_count: int = 3) -> np.ndarray:
    mask = np.zeros(256 + merge_count, bool)
    mask[list(ranks)] = True
    return mask


def test_what_was_learned():
    assert MERGES.token_bytes[256:] == [b"ha", b"hat", b"that"]
    assert MERGES.applied.replacements.tolist() == [6, 5, 2]


def test_lengths():
    assert lengths_by_prefix(MERGES.applied).tolist() == [19, 13, 8, 6]
    assert [total_tokens(MERGES.applied, count) for count in range(4)] == [19, 13, 8, 6]
    assert total_tokens(MERGES.applied) == 6


def test_exposures_of_prefixes():
    assert exposure(MERGES.pairs, MERGES.applied, 1)[256:].tolist() == [6]
    assert exposure(MERGES.pairs, MERGES.applied, 2)[256:].tolist() == [1, 5]
    last = exposure(MERGES.pairs, MERGES.applied)
    assert last[256:].tolist() == [1, 3, 2]
    assert last[[ord("t"), ord("h"), ord("a")]].tolist() == [0, 0, 0]


@pytest.mark.parametrize("fewer", range(4))
def test_exposures_go_on_from_those_of_a_shorter_prefix(fewer):
    known = exposure(MERGES.pairs, MERGES.applied, fewer)
    before = known.copy()
    for merge_count in range(fewer, 4):
        direct = exposure(MERGES.pairs, MERGES.applied, merge_count)
        found = exposure(MERGES.pairs, MERGES.applied, merge_count, after_fewer=known)
        assert found.tolist() == direct.tolist()
    assert known.tolist() == before.tolist()


@pytest.mark.parametrize(
    ("ranks", "flows", "length"),
    [
        ((), [1, 3, 2], 6),
        ((258,), [1, 5, 2], 8),  # "that" falls into "t", "hat"
        ((257,), [4, 3, 2], 9),
        ((257, 258), [6, 5, 2], 13),  # and "hat" into "ha", "t"
        ((256, 257, 258), [6, 5, 2], 19),
    ],
)
def test_flow_and_length(ranks, flows, length):
    mask = hidden(*ranks)
    assert flow(MERGES.pairs, exposure(MERGES.pairs, MERGES.applied), mask)[256:].tolist() == flows
    assert encoded_length(MERGES.pairs, MERGES.applied, mask) == length


def test_the_mask_decides_how_many_merges_apply():
    assert encoded_length(MERGES.pairs, MERGES.applied, hidden(merge_count=1)) == 13
    assert encoded_length(MERGES.pairs, MERGES.applied, hidden(256, merge_count=2)) == 9


def test_nothing_given_is_changed():
    exposures = exposure(MERGES.pairs, MERGES.applied)
    before = exposures.copy()
    flow(MERGES.pairs, exposures, hidden(257, 258))
    assert exposures.tolist() == before.tolist()
    assert MERGES.applied.byte_counts.sum() == 19


def test_counts_that_no_double_holds():
    count = 2**60 + 1
    merges = learn(ChunkCounts.from_mapping({b"ab": count, b"abc": 3}), 2)
    exposures = exposure(merges.pairs, merges.applied)
    assert exposures[[ord("a"), ord("b"), 256, 257]].tolist() == [0, 0, count, 3]
    assert flow(merges.pairs, exposures, hidden(256, merge_count=2))[ord("a")] == count
