"""The reader: files that do not belong together, or are damaged, are refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prunedbpe.encoded import encode_corpus, open_encoded, read_documents
from prunedbpe.errors import FormatError

FLAT = pytest.mark.parametrize("format", ["npy", "bin"])


def change_json(path, key, value):
    metadata = json.loads(path.read_text())
    holder = metadata["settings"] if key.startswith("settings.") else metadata
    holder[key.removeprefix("settings.")] = value
    path.write_text(json.dumps(metadata))


@FLAT
def test_random_access(tok, documents, format, tmp_path):
    encode_corpus(tok, iter(documents), tmp_path / f"a.{format}")
    found = open_encoded(tmp_path / f"a.{format}")
    assert isinstance(found.ids, np.memmap) and isinstance(found.offsets, np.memmap)
    assert found[1].tolist() == found[-4].tolist() == tok.encode(documents[1])
    with pytest.raises(IndexError):
        found[len(documents)]


@FLAT
@pytest.mark.parametrize("failing", [0, 1, 2])
@pytest.mark.parametrize("is_first_run", [True, False])
def test_a_crash_between_renames(tok, format, failing, is_first_run, tmp_path, monkeypatch):
    """Interrupted before rename ``failing``: readers find the old set, or finish the new one."""
    path = tmp_path / f"a.{format}"
    if not is_first_run:
        encode_corpus(tok, iter(["aa", "bbb"]), path)  # as many documents and ids
    original, renames = Path.replace, []

    def replace(source, target):
        if len(renames) == failing:
            raise KeyboardInterrupt
        renames.append(target)
        return original(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            encode_corpus(tok, iter(["ccc", "dd"]), path)
    if failing == 0 and is_first_run:
        assert not list(tmp_path.iterdir())
        return
    texts = ["aa", "bbb"] if failing == 0 else ["ccc", "dd"]
    assert [ids.tolist() for _, ids in read_documents(path)] == tok.encode_batch(texts)
    assert [ids.tolist() for ids in open_encoded(path, verify=True)] == tok.encode_batch(texts)
    assert len(list(tmp_path.iterdir())) == 3


@FLAT
@pytest.mark.parametrize("mixed", ["", ".offsets.npy", ".meta.json"])
def test_files_of_two_runs(tok, format, mixed, tmp_path):
    """Same documents, same number of ids, other ids and offsets."""
    for name, texts in (("a", ["aa", "bbb"]), ("b", ["ccc", "dd"])):
        encode_corpus(tok, iter(texts), tmp_path / f"{name}.{format}")
    source = tmp_path / f"b.{format}{mixed}"
    source.replace(tmp_path / f"a.{format}{mixed}")
    with pytest.raises(FormatError, match="not of the same run") as caught:
        open_encoded(tmp_path / f"a.{format}")
    assert f"a.{format}" in caught.value.message and "again" in str(caught.value.hint)


@FLAT
@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "something", "not the metadata"),
        ("version", 2, "version 2"),
        ("settings.dtype", "float32", "float32"),
        ("settings.dtype", "uint32", "ids of type uint32"),
        ("settings.format", "csv", "csv"),
        ("tokens", 3, "not 3 ids"),
        ("documents", 7, "not 7 documents"),
        ("tokens", "many", "meta.json"),
        ("ids", None, "not of the same run"),
    ],
)
def test_metadata_are_checked(tok, format, key, value, message, tmp_path):
    path = tmp_path / f"a.{format}"
    encode_corpus(tok, iter(["the", "a"]), path)
    change_json(tmp_path / f"a.{format}.meta.json", key, value)
    with pytest.raises(FormatError, match=message) as caught:
        open_encoded(path)
    assert f"a.{format}" in caught.value.message and caught.value.hint


@pytest.mark.parametrize(
    ("offsets", "problem"),
    [([0, 2, 1, 3], "falling"), ([1, 2, 2, 3], "from 1"), ([0, 1, 2, 2], "to 2 for 3 ids")],
)
def test_offsets_are_checked(tok, offsets, problem, tmp_path, monkeypatch):
    path = tmp_path / "a.bin"
    encode_corpus(tok, iter(["x", "y", "z"]), path)
    np.save(tmp_path / "a.bin.offsets.npy", np.array(offsets))
    recorded = json.loads((tmp_path / "a.bin.meta.json").read_text())
    # As if the file had been written like this.
    monkeypatch.setattr(
        "prunedbpe.encoded.reader.fingerprint",
        lambda file: recorded["ids" if file == path else "offsets"],
    )
    with pytest.raises(FormatError, match=problem):
        open_encoded(path)


def test_missing_files(tok, tmp_path):
    with pytest.raises(FormatError, match=r"none\.bin: no such file"):
        open_encoded(tmp_path / "none.bin")
    np.save(tmp_path / "a.npy", np.array([97]))
    with pytest.raises(FormatError, match=r"offsets\.npy: no such file; a\.npy needs it"):
        open_encoded(tmp_path / "a.npy")
    assert [list(ids) for _, ids in read_documents(tmp_path / "a.npy")] == [[97]]


def test_another_format_under_the_same_name(tok, tmp_path):
    path = tmp_path / "ids"
    for format in ("npy", "jsonl", "bin", "ids", "parquet", "npy", "arrow"):
        encode_corpus(tok, iter(["the", "a"]), path, format)
        assert [list(ids) for _, ids in read_documents(path)] == tok.encode_batch(["the", "a"])


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_tables(format, tmp_path):
    path = tmp_path / f"a.{format}"

    def write(**columns):
        table = pa.table(columns)
        if format == "parquet":
            pq.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table, max_chunksize=2)

    write(ids=pa.array([[1, 2], [], [3]], pa.list_(pa.int64())), text=["a", "b", "c"])
    assert [list(ids) for _, ids in read_documents(path)] == [[1, 2], [], [3]]
    with pytest.raises(FormatError, match=r"no column 'text' with lists") as caught:
        list(read_documents(path, column="text"))
    assert "ids, text" in str(caught.value.hint)
    for values in ([[1], None], [[1, None]]):
        write(ids=pa.array(values, pa.large_list(pa.uint32())))
        with pytest.raises(FormatError, match="nulls"):
            list(read_documents(path))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FormatError, match=path.name):
        list(read_documents(path))
