"""Chunk counts as a table: made, checked, saved, loaded; and every way a file can be wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from strategies import byte_chunk_counts

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, Shard
from prunedbpe.corpus import CorpusReport
from prunedbpe.counts.coverage import Coverage
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.pretokenizers import Pretokenizer


@pytest.fixture
def table() -> ChunkCounts:
    return ChunkCounts.from_mapping({b"the": 3, b" cat": 2, b"\xff\x00": 2**40})


@given(counts=byte_chunk_counts())
def test_round_trip(counts, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "round-trip.parquet"
    table = ChunkCounts.from_mapping(counts)
    table.save(path)
    loaded = ChunkCounts.load(path)
    assert loaded == table
    assert loaded.digest == table.digest
    assert dict(loaded.items()) == counts
    assert loaded.corpus == table.corpus


def test_all_settings_survive(tmp_path):
    table = ChunkCounts(
        data=np.frombuffer(b"ab", np.uint8),
        offsets=np.array([0, 2]),
        counts=np.array([7]),
        first_positions=np.array([5]),
        pretokenizer=Pretokenizer("gpt2"),
        corpus=CorpusReport(3, 19, 2, 1, ("b.txt, byte 17: not UTF-8",)),
        coverage=Coverage.of(Shard(1, 4), 5),
    )
    table.save(tmp_path / "new" / "a.parquet")
    loaded = ChunkCounts.load(tmp_path / "new" / "a.parquet")
    assert loaded == table
    assert (loaded.corpus, loaded.coverage) == (table.corpus, table.coverage)


def test_empty_table(tmp_path):
    table = prunedbpe.count(Corpus.from_texts([]))
    assert (len(table), table.total_bytes, table.byte_counts.sum()) == (0, 0, 0)
    table.save(tmp_path / "a.parquet")
    assert ChunkCounts.load(tmp_path / "a.parquet") == table
    assert len(prunedbpe.learn(table, 5)) == 0
    assert prunedbpe.reduce_counts([table, table]) == table


def test_positions_are_those_of_the_normalized_text():
    texts = ["e\u0301 x", "\u00e9 y"]
    table = prunedbpe.count(texts, pretokenizer=Pretokenizer("paper", normalization="NFC"))
    assert dict(table.items()) == {"\u00e9".encode(): 2, b" x": 1, b" y": 1}
    assert table.first_positions.tolist() == [0, 2, 6]
    assert (table.total_bytes, table.corpus.bytes) == (8, 9)


def test_other_programs_can_read_it(table, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    table.save(tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").to_pydict() == {
        "chunk": [b"the", b" cat", b"\xff\x00"],
        "count": [3, 2, 2**40],
        "first_position": [0, 3, 7],
    }


@pytest.mark.parametrize("counts", [{b"": 1}, {b"a": 0}, {b"a": -1}, {b"a": 2**63}])
def test_a_mapping_that_makes_no_sense(counts):
    with pytest.raises(SettingsError, match="with count"):
        ChunkCounts.from_mapping(counts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offsets": [0, 1, 9]}, "hold 3 bytes"),
        ({"offsets": [1, 2, 3]}, "offsets go from 1"),
        ({"offsets": [0, 3]}, "2 counts with 2 offsets"),
        ({"offsets": [0, 0, 3]}, "row 0: the chunk is empty"),
        ({"counts": [1, 0]}, "row 1: the count is below 1"),
        ({"counts": [1]}, "1 counts"),
        ({"first_positions": [3, 3]}, "row 1: first_position"),
        ({"first_positions": [0]}, "1 first positions"),
        ({"first_positions": [-1, 1]}, "row 0: first_position"),
    ],
)
def test_arrays_that_native_code_could_not_trust(change, message):
    good = {"offsets": [0, 1, 3], "counts": [1, 2], "first_positions": [0, 1]}
    arrays = {name: np.array(values) for name, values in {**good, **change}.items()}
    with pytest.raises(FormatError, match=message):
        ChunkCounts(data=np.frombuffer(b"abc", np.uint8), **arrays)
