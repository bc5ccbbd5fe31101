"""Chunk counts as Arrow tables, and tables that other programs made."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import prunedbpe
from prunedbpe import ChunkCounts, Pretokenizer
from prunedbpe.errors import FormatError, SettingsError

COUNTS = prunedbpe.count(["the cat sat on the mat", "中文 the"], pretokenizer="gpt2")
ROWS = {"chunk": [b"the", b" cat", b"\xff\x00"], "count": [3, 2, 5], "first_position": [0, 3, 7]}


def test_round_trip():
    table = COUNTS.to_arrow()
    assert isinstance(table, pa.Table)
    assert table.schema.types == [pa.large_binary(), pa.int64(), pa.int64()]
    back = ChunkCounts.from_arrow(table)
    assert back == COUNTS and back.corpus == COUNTS.corpus and back.digest == COUNTS.digest
    halves = pa.concat_tables([table.slice(0, 3), table.slice(3)])
    assert ChunkCounts.from_arrow(halves) == COUNTS
    assert ChunkCounts.from_arrow(halves.to_reader()) == COUNTS
    empty = prunedbpe.count(iter([]))
    assert ChunkCounts.from_arrow(empty.to_arrow()) == empty
    no_rows = table.slice(0, 0).replace_schema_metadata()
    assert ChunkCounts.from_arrow(no_rows) == ChunkCounts.from_mapping({})


def test_some_of_the_rows():
    table = COUNTS.to_arrow()
    some = ChunkCounts.from_arrow(table.filter(pa.compute.field("count") > 1))
    assert dict(some.items()) == {chunk: n for chunk, n in COUNTS.items() if n > 1}
    assert some.pretokenizer == COUNTS.pretokenizer


def test_without_settings():
    counts = ChunkCounts.from_arrow(pa.table(ROWS))
    assert dict(counts.items()) == dict(zip(ROWS["chunk"], ROWS["count"], strict=True))
    assert counts.first_positions.tolist() == ROWS["first_position"]
    assert counts.pretokenizer == Pretokenizer("paper")
    assert counts.corpus == prunedbpe.CorpusReport(bytes=3 * 3 + 2 * 4 + 5 * 2)
    assert ChunkCounts.from_arrow(pa.table(ROWS), pretokenizer="gpt2").pretokenizer.name == "gpt2"


def test_a_pretokenizer_that_contradicts_the_settings(tmp_path):
    COUNTS.save(tmp_path / "a.parquet")
    for pretokenizer in ("gpt2", COUNTS.pretokenizer):
        assert ChunkCounts.from_arrow(COUNTS.to_arrow(), pretokenizer=pretokenizer) == COUNTS
        assert ChunkCounts.load(tmp_path / "a.parquet", pretokenizer=pretokenizer) == COUNTS
    with pytest.raises(SettingsError, match="'gpt2', not 'paper'"):
        ChunkCounts.from_arrow(COUNTS.to_arrow(), pretokenizer="paper")
    with pytest.raises(SettingsError, match="'gpt2', not 'paper'"):
        ChunkCounts.load(tmp_path / "a.parquet", pretokenizer="paper")


@pytest.mark.parametrize("seed", range(3))
def test_rows_in_any_order(tmp_path, seed):
    table = COUNTS.to_arrow().replace_schema_metadata()
    order = random.Random(seed).sample(range(len(table)), len(table))
    pq.write_table(table.take(order), tmp_path / "a.parquet")
    loaded = ChunkCounts.load(tmp_path / "a.parquet", pretokenizer="gpt2")
    assert loaded == COUNTS and loaded.digest == COUNTS.digest
    assert prunedbpe.learn(loaded, 5).pairs.tolist() == prunedbpe.learn(COUNTS, 5).pairs.tolist()


@pytest.mark.parametrize(
    "chunk_type",
    [pa.binary(), pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)
@pytest.mark.parametrize("number_type", [pa.int32(), pa.uint64(), pa.int64()], ids=str)
def test_types_of_columns(tmp_path, chunk_type, number_type):
    texts = pa.array(["b", "é", "a"])
    table = pa.table({
        "extra": [None, 1, 2],
        "count": pa.array([1, 2, 3], number_type),
        "first_position": pa.array([0, 4, 2], number_type),
        "chunk": texts.cast(chunk_type),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet")
    expected = {b"b": 1, b"a": 3, "é".encode(): 2}
    loaded = ChunkCounts.load(tmp_path / "a.parquet")
    assert list(loaded.items()) == list(expected.items())
    assert ChunkCounts.from_arrow(table) == loaded


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chunk": [b"the", b"a", b"the"]}, r"chunk b'the' has several rows"),
        ({"chunk": [b"the", b"", b"a"]}, "first_position 3 is empty"),
        ({"chunk": [b"the", None, b"a"]}, "'chunk' holds nulls"),
        ({"chunk": [1, 2, 3]}, "'chunk' has type int64"),
        ({"count": [1, 0, 1]}, r"b' cat' has the count 0"),
        ({"count": [1, None, 1]}, "'count' holds nulls"),
        ({"count": [1.5, 1, 1]}, "'count' has type double"),
        ({"count": pa.array([1, 2**63, 1], pa.uint64())}, "'count' has type uint64"),
        ({"count": [2**62, 2**62, 1]}, "2\\^63 bytes"),
        ({"first_position": [3, 0, 3]}, r"b'the' and b'\\xff\\x00' have the same first_position 3"),
        ({"first_position": [3, -1, 4]}, r"b' cat' has the first_position -1"),
        ({"first_position": None}, "'first_position' is missing"),
        ({"count": None}, "'count' is missing"),
        ({"chunk": None}, "'chunk' is missing"),
    ],
)
def test_tables_that_make_no_sense(tmp_path, change, message):
    rows = {name: values for name, values in {**ROWS, **change}.items() if values is not None}
    table = pa.table(rows)
    with pytest.raises(FormatError, match=message):
        ChunkCounts.from_arrow(table)
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(FormatError, match=f"a.parquet: .*{message}"):
        ChunkCounts.load(tmp_path / "a.parquet")


def test_what_first_position_is_for():
    with pytest.raises(FormatError) as raised:
        ChunkCounts.from_arrow(pa.table(ROWS).drop_columns(["first_position"]))
    assert "occurs first" in raised.value.hint and "ties" in raised.value.hint


def test_own_files_keep_their_checksum(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(COUNTS.to_arrow(), path)  # sealed like a file of save()
    assert ChunkCounts.load(path) == COUNTS
    table = COUNTS.to_arrow()
    pq.write_table(table.slice(1), path)
    with pytest.raises(FormatError, match="checksum"):
        ChunkCounts.load(path)
    for metadata in (
        {b"prunedbpe": b"{}"},
        {b"prunedbqe": table.schema.metadata[b"prunedbpe"]},  # a key that was damaged
        {b"prunedbpe": table.schema.metadata[b"prunedbpe"].replace(b'"checksum"', b'"checksun"')},
    ):
        pq.write_table(table.replace_schema_metadata(metadata), path)
        with pytest.raises(FormatError):
            ChunkCounts.load(path)


def test_tables_of_another_kind():
    table = COUNTS.to_arrow()
    settings = table.schema.metadata[b"prunedbpe"].replace(b"chunk counts", b"source counts")
    with pytest.raises(FormatError, match="prunedbpe source counts"):
        ChunkCounts.from_arrow(table.replace_schema_metadata({b"prunedbpe": settings}))
