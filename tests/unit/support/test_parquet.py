"""Parquet tables: whatever is wrong with a file is a `FormatError` that names it."""

from __future__ import annotations

import json
import random

import pytest

from prunedbpe import ChunkCounts, MergeTable, learn
from prunedbpe.errors import FormatError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

COUNTS = ChunkCounts.from_mapping({b"the": 3, b"that": 2, b"hat": 4, b"cat": 1})
KINDS = {"counts": COUNTS, "merges": learn(COUNTS, 5)}
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def path(tmp_path, kind):
    path = tmp_path / f"{kind}.parquet"
    KINDS[kind].save(path)
    return path


def load(kind, path):
    return type(KINDS[kind]).load(path)


@every_kind
def test_missing_file(kind, tmp_path):
    with pytest.raises(FormatError, match=r"nothing\.parquet: no such file"):
        load(kind, tmp_path / "nothing.parquet")


@every_kind
@pytest.mark.parametrize("content", [b"", b"garbage", b"PAR1" * 9])
def test_no_parquet(kind, path, content):
    path.write_bytes(content)
    with pytest.raises(FormatError, match=rf"{kind}\.parquet: not a Parquet file"):
        load(kind, path)


@every_kind
def test_cut_short_anywhere(kind, path):
    whole = path.read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError, match=rf"{kind}\.parquet"):
            load(kind, path)


@every_kind
def test_changed_bytes_never_give_another_error(kind, path):
    whole = path.read_bytes()
    chance = random.Random(7)
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 1, 3, 20])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        try:
            loaded = load(kind, path)
        except FormatError as error:
            assert str(path) in str(error)
        else:
            assert len(loaded) == len(KINDS[kind])


@every_kind
def test_a_changed_page_is_noticed(kind, path):
    """The values themselves carry checksums."""
    whole = bytearray(path.read_bytes())
    column = pq.ParquetFile(path).metadata.row_group(0).column(1)
    whole[column.data_page_offset + column.total_compressed_size - 3] ^= 1
    path.write_bytes(whole)
    with pytest.raises(FormatError):
        load(kind, path)


@every_kind
def test_file_of_another_program(kind, path):
    pq.write_table(pa.table({"a": [1]}), path)
    # Counts may come from elsewhere, merges may not.
    messages = {"counts": "column 'chunk' is missing", "merges": "prunedbpe did not write"}
    with pytest.raises(FormatError, match=messages[kind]):
        load(kind, path)
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({b"prunedbpe": b"[]"}), path)
    with pytest.raises(FormatError, match="prunedbpe did not write"):
        load(kind, path)


def test_one_format_for_another(tmp_path):
    KINDS["merges"].save(tmp_path / "a.parquet")
    with pytest.raises(FormatError, match="holds 'prunedbpe merges', not"):
        ChunkCounts.load(tmp_path / "a.parquet")


DROP = object()


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        *((kind, "pretokenizer", value) for kind in KINDS for value in (DROP, 5, {}, {"name": 1})),
        *((kind, "pretokenizer", {"name": "nope"}) for kind in KINDS),
        *((kind, "corpus", value) for kind in KINDS for value in (DROP, [1], {"documents": "x"})),
        *((kind, "version", value) for kind in KINDS for value in (DROP, 1, "2")),
        *((kind, "format", value) for kind in KINDS for value in (DROP, "other")),
        *(("counts", "coverage", value) for value in ([1], [5, 2], "ab")),
        *(("merges", "byte_counts", value) for value in (DROP, [1, 2], "x", None)),
        ("merges", "exhausted", DROP),
        ("merges", "counts_digest", DROP),
    ],
)
def test_settings_that_make_no_sense(kind, name, value, path):
    table = pq.read_table(path)
    settings = json.loads(table.schema.metadata[b"prunedbpe"])
    settings.pop(name)
    if value is not DROP:
        settings[name] = value
    table = table.replace_schema_metadata({b"prunedbpe": json.dumps(settings).encode()})
    pq.write_table(table, path)
    with pytest.raises(FormatError, match=rf"{kind}\.parquet"):
        load(kind, path)


@pytest.mark.parametrize("values", ["text", 1.5, -1, None, [1], 2**63], ids=repr)
@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("counts", "count"),
        ("counts", "first_position"),
        ("merges", "left"),
        ("merges", "right"),
        ("merges", "frequency"),
        ("merges", "applied"),
    ],
)
def test_columns_that_make_no_sense(kind, column, values, path):
    table = pq.read_table(path)
    column_type = pa.uint64() if values == 2**63 else None
    changed = pa.array([values] * len(table), column_type)
    table = table.set_column(table.column_names.index(column), column, changed)
    pq.write_table(table, path)
    with pytest.raises(FormatError, match=rf"{kind}\.parquet"):
        load(kind, path)
    pq.write_table(table.drop_columns([column]), path)
    with pytest.raises(FormatError, match=f"{column}.* is missing"):
        load(kind, path)


def test_merge_of_a_rank_that_does_not_exist_yet(tmp_path):
    with pytest.raises(FormatError, match=r"merge 1 \(rank 257\) is made of"):
        MergeTable.from_pairs([(97, 98), (97, 257)])
