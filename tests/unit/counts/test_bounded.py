"""Counting with little memory, and after a stop, gives the same bytes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, Shard, count_by_source
from prunedbpe.counts import bounded, bucket_merge, partial_tables, reducing_files, spills
from prunedbpe.counts.counting import count_to_file
from prunedbpe.counts.reducing_files import reduce_files
from prunedbpe.errors import FormatError, RunMismatchError, SettingsError

FORMATS = ("txt", "jsonl", "txt.gz", "parquet", "md")


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    """Files of every kind, each several batches long, with a line that is not UTF-8."""
    lines = [f"line {n} w{n * n % 977} w{n % 13}, été w{n}" for n in range(3_000)]
    text = "\n".join(lines).encode() + b"\nnot \xff\xfe UTF-8\nlast"
    paths = [tmp_path / f"a.{name}" for name in FORMATS]
    paths[0].write_bytes(text)
    paths[1].write_text("\n".join(json.dumps({"text": line}) for line in lines), encoding="utf-8")
    paths[2].write_bytes(gzip.compress(text))
    pq.write_table(pa.table({"text": lines}), paths[3], row_group_size=700)
    paths[4].write_text("\n".join(lines), encoding="utf-8")
    return paths


@pytest.fixture
def spill_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch is written to disk."""
    monkeypatch.setattr(bounded.BoundedCount, "_is_full", lambda self: True)


def open_(paths: list[Path]) -> Corpus:
    return Corpus(paths, batch_bytes=20_000)


class StoppedError(Exception):
    """Stands for a killed process."""


def stop_after(monkeypatch: pytest.MonkeyPatch, function: str, calls: int) -> None:
    """Let the next process die in the given call of a function of the spills."""
    target = spills.Spills if function == "write" else spills
    original = getattr(target, function)
    left = [calls]

    def stopping(*args, **kwargs):
        left[0] -= 1
        if left[0] < 0:
            raise StoppedError
        return original(*args, **kwargs)

    monkeypatch.setattr(target, function, stopping)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.usefixtures("spill_often")
def test_same_bytes_with_spills(corpus, tmp_path, monkeypatch, threads):
    written = count_to_file(open_(corpus), tmp_path / "spilled", threads=threads)
    assert written.spilled
    monkeypatch.undo()
    table = prunedbpe.count(open_(corpus))
    table.save(tmp_path / "whole")
    assert (tmp_path / "spilled").read_bytes() == (tmp_path / "whole").read_bytes()
    assert (written.chunks, written.digest) == (len(table), table.digest)
    assert written.corpus == table.corpus
    assert not (tmp_path / "spilled.parts").exists()


def test_same_table_in_memory(corpus, monkeypatch):
    expected = prunedbpe.count(open_(corpus), pretokenizer="gpt2")
    monkeypatch.setattr(bounded.BoundedCount, "_is_full", lambda self: True)
    monkeypatch.setattr(spills, "MOST_JOINED", 3)
    monkeypatch.setattr(bucket_merge, "SLICE_ROWS", 2)
    found = prunedbpe.count(open_(corpus), pretokenizer="gpt2")
    assert found == expected
    assert found.corpus == expected.corpus


@pytest.mark.parametrize("stops", [[("write", 1)], [("write", 4), ("write", 3), ("write", 5)]])
def test_resumes(corpus, tmp_path, monkeypatch, stops):
    whole = prunedbpe.count(open_(corpus))
    path = tmp_path / "counts"
    for function, calls in [*stops, ("write_slices", 17)]:
        with monkeypatch.context() as patch:
            patch.setattr(bounded.BoundedCount, "_is_full", lambda self: True)
            stop_after(patch, function, calls)
            with pytest.raises(StoppedError):
                count_to_file(open_(corpus), path, threads=1)
    parts = sorted(path.with_name("counts.parts").glob("part-*"))
    assert len(parts) > sum(calls for _, calls in stops)
    written = count_to_file(open_(corpus), path)
    assert ChunkCounts.load(path) == whole
    assert written.corpus == whole.corpus


@pytest.mark.parametrize("field", [None, "lang"])
def test_by_source_resumes(tmp_path, monkeypatch, field):
    path = tmp_path / "a.jsonl"
    rows = [{"text": f"w{n} w{n % 7} x", "lang": f"l{n * n % 300}"} for n in range(4_000)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    big = tmp_path / "b.txt"
    big.write_text("\n".join(f"word{n * n % 999}" for n in range(100_000)), encoding="utf-8")
    corpus = Corpus([path, big], batch_bytes=30_000, source_field=field)
    expected = count_by_source(corpus)
    for calls in (3, 4):
        with monkeypatch.context() as patch:
            patch.setattr(bounded.BoundedCount, "_is_full", lambda self: True)
            stop_after(patch, "write", calls)
            with pytest.raises(StoppedError):
                count_by_source(corpus, folder=tmp_path / "parts")
    found = count_by_source(corpus, folder=tmp_path / "parts")
    assert (found.names, found.note, found.kind) == (expected.names, expected.note, expected.kind)
    assert found._digest == expected._digest
    assert found.total.corpus == expected.total.corpus


@pytest.mark.usefixtures("spill_often")
def test_a_folder_of_another_count(corpus, tmp_path, monkeypatch):
    stop_after(monkeypatch, "write", 2)
    with pytest.raises(StoppedError):
        count_to_file(open_(corpus), tmp_path / "counts")
    with pytest.raises(RunMismatchError, match=r"counts\.parts holds the beginning of another"):
        count_to_file(open_(corpus[1:]), tmp_path / "counts")


@pytest.mark.usefixtures("spill_often")
@pytest.mark.parametrize("place", [0.5, -9])
def test_a_damaged_spill_is_named(corpus, tmp_path, monkeypatch, place):
    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        stop_after(patch, "write_slices", 0)
        count_to_file(open_(corpus), tmp_path / "counts")
    part = tmp_path / "counts.parts" / "part-00002.arrow"
    data = bytearray(part.read_bytes())
    data[int(place * len(data)) if isinstance(place, float) else place] ^= 0x41
    part.write_bytes(data)
    with pytest.raises(FormatError, match=r"part-00002\.arrow"):
        count_to_file(open_(corpus), tmp_path / "counts")


@pytest.mark.usefixtures("spill_often")
def test_rare_chunks_are_dropped_on_disk_as_in_memory(corpus, tmp_path, monkeypatch):
    count_to_file(open_(corpus), tmp_path / "spilled", min_chunk_count=3)
    by_source = count_by_source(open_(corpus), min_chunk_count=3)
    monkeypatch.undo()
    prunedbpe.count(open_(corpus), min_chunk_count=3).save(tmp_path / "whole")
    assert (tmp_path / "spilled").read_bytes() == (tmp_path / "whole").read_bytes()
    assert by_source._digest == count_by_source(open_(corpus), min_chunk_count=3)._digest
    assert by_source.total == ChunkCounts.load(tmp_path / "whole")


@pytest.mark.parametrize("min_chunk_count", [1, 2])
@pytest.mark.parametrize("limit", [0, 1 << 40])
def test_reduce_files(corpus, tmp_path, monkeypatch, limit, min_chunk_count):
    paths = [tmp_path / f"{i}.parquet" for i in range(5)]
    for i, path in enumerate(paths):
        count_to_file(Corpus(corpus, shard=Shard(i, 5)), path)
    monkeypatch.setattr(reducing_files, "table_budget", lambda budget: limit)
    found = reduce_files(paths[::-1], tmp_path / "found", min_chunk_count=min_chunk_count)
    assert found.spilled == (limit == 0)
    prunedbpe.count(corpus, min_chunk_count=min_chunk_count).save(tmp_path / "whole")
    assert (tmp_path / "found").read_bytes() == (tmp_path / "whole").read_bytes()
    assert not (tmp_path / "found.parts").exists()


def test_reduce_files_names_what_is_wrong(corpus, tmp_path):
    for i in range(2):
        count_to_file(Corpus(corpus, shard=Shard(i, 2)), tmp_path / str(i))
    count_to_file(Corpus(corpus, shard=Shard(1, 2)), tmp_path / "other", pretokenizer="gpt2")
    with pytest.raises(SettingsError, match="shard 1/2 is missing"):
        reduce_files([tmp_path / "0"], tmp_path / "out")
    with pytest.raises(SettingsError, match=r"other by .*gpt2"):
        reduce_files([tmp_path / "0", tmp_path / "other"], tmp_path / "out")
    data = bytearray((tmp_path / "1").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "1").write_bytes(data)
    with pytest.raises(FormatError, match=str(tmp_path / "1")):
        reduce_files([tmp_path / "0", tmp_path / "1"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_budgets(corpus, tmp_path):
    with pytest.raises(SettingsError, match=r"memory is 1 MB, but 300 MB are needed"):
        prunedbpe.count(corpus, memory="1MB")
    with pytest.raises(SettingsError, match="memory is 'much'"):
        count_to_file(corpus, tmp_path / "counts", memory="much")
    assert not (tmp_path / "counts.parts").exists()


def test_memory_fills_the_budget(tmp_path):
    """A small budget is kept by spilling, not by luck."""
    path = tmp_path / "a.txt"
    path.write_text("".join(f"a{n} b{n}\n" for n in range(1_500_000)), encoding="utf-8")
    written = count_to_file(path, tmp_path / "counts", memory=bounded.LEAST_MEMORY)
    assert written.spilled
    assert ChunkCounts.load(tmp_path / "counts") == prunedbpe.count(path)


def test_checkpoints_without_need_of_memory(corpus, tmp_path, monkeypatch):
    stop_after(monkeypatch, "write", 2)
    with pytest.raises(StoppedError):
        count_to_file(open_(corpus), tmp_path / "counts", checkpoint_seconds=0.0)
    assert len(list((tmp_path / "counts.parts").glob("part-*"))) == 2


def test_partial_tables_that_are_none(tmp_path):
    path = tmp_path / "a.arrow"
    with pytest.raises(FormatError, match=r"a\.arrow: cannot be read"):
        partial_tables.PartialTable(path)
    path.write_bytes(b"no Arrow at all")
    with pytest.raises(FormatError, match=r"a\.arrow: not a partial table"):
        partial_tables.PartialTable(path)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, pa.schema([("a", pa.int8())])):
        pass
    with pytest.raises(FormatError, match=r"a\.arrow: not a partial table"):
        partial_tables.PartialTable(path)
