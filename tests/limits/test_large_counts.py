"""Counts beyond 2^31 and 2^53 stay exact; a sum that would reach 2^63 is an error."""

from __future__ import annotations

import numpy as np
import pytest

import prunedbpe
from prunedbpe import reference
from prunedbpe.counts import ChunkCounts, SourceCounts, reduce_counts
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.merges import replay, replay_by_source

# Odd, so that a float would round them.
SCALES = {"beyond 2^31": 3_000_000_001, "beyond 2^53": 2**53 + 1}
SMALL = {b"the": 7, b"cat": 5, b"that": 3, b"hat": 2, b"aaaa": 1}


@pytest.fixture(params=SCALES.values(), ids=SCALES)
def large(request) -> dict[bytes, int]:
    return {chunk: count * request.param for chunk, count in SMALL.items()}


def test_learning(large):
    merges = prunedbpe.learn(ChunkCounts.from_mapping(large), 8)
    expected = reference.learn(large, 8)
    assert merges.pairs.tolist() == [list(pair) for pair in expected.merges]
    assert merges.frequencies.tolist() == expected.frequencies
    assert merges.applied.replacements.tolist() == expected.applied


def test_resuming_and_replaying(large):
    counts = ChunkCounts.from_mapping(large)
    merges = prunedbpe.learn(counts, 8)
    again = prunedbpe.learn(counts, 8, merges=prunedbpe.learn(counts, 3))
    assert np.array_equal(again.frequencies, merges.frequencies)
    assert np.array_equal(replay(merges, counts).replacements, merges.applied.replacements)
    sources = SourceCounts.from_tables(["a", "b"], [counts, counts])
    total = sum((a.replacements for a in replay_by_source(merges, sources)), np.int64(0))
    assert np.array_equal(total, 2 * merges.applied.replacements)
    assert sources.source_bytes.tolist() == [counts.total_bytes] * 2


def test_reducing_and_files(large, tmp_path):
    counts = ChunkCounts.from_mapping(large)
    whole = reduce_counts([counts, counts])
    assert dict(whole.items()) == {chunk: 2 * count for chunk, count in large.items()}
    whole.save(tmp_path / "counts.parquet")
    assert ChunkCounts.load(tmp_path / "counts.parquet") == whole
    assert whole.total_bytes == 2 * sum(len(chunk) * count for chunk, count in large.items())
    assert int(whole.byte_counts.sum()) == whole.total_bytes


@pytest.mark.parametrize("segmentation", ["rank", "shortest"])
@pytest.mark.parametrize("threshold", [0, "40%", "auto"])
def test_lengths(large, segmentation, threshold):
    counts = ChunkCounts.from_mapping(large)
    tok = prunedbpe.prune(
        prunedbpe.learn(counts, 8), 256 + 4, threshold=threshold, segmentation=segmentation,
        counts=counts, special_tokens=(),
    )  # fmt: skip
    length = sum(len(tok.encode(chunk.decode())) * count for chunk, count in large.items())
    assert tok.training["encoded_length"] == length


def test_a_corpus_of_2_to_the_63_bytes():
    most = ChunkCounts.from_mapping({b"ab": 2**61, b"cd": 2**61 - 1})
    assert most.total_bytes == 2**63 - 2
    assert prunedbpe.learn(most, 2).frequencies.tolist() == [2**61, 2**61 - 1]
    for counts in ({b"ab": 2**62}, {b"ab": 2**61, b"cd": 2**61}):
        with pytest.raises(FormatError, match=r"row \d: .* 2\^63 bytes"):
            ChunkCounts.from_mapping(counts)
    with pytest.raises(SettingsError, match=r"would reach 2\^63"):
        reduce_counts([most, ChunkCounts.from_mapping({b"x": 2})])
    with pytest.raises(SettingsError, match=r"would reach 2\^63"):
        SourceCounts.from_tables(["a", "b"], [most, most])
