"""Batches, shards, progress, and what counts as a corpus."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prunedbpe.corpus import Corpus, CorpusReport, Shard, open_corpus
from prunedbpe.corpus import blocks as corpus_blocks
from prunedbpe.corpus import corpus as corpus_module
from prunedbpe.counts import count, count_by_source
from prunedbpe.errors import CorpusError, SettingsError

LINES = st.text(alphabet="ab中\u0301 \r\n", max_size=40)


def read(corpus: Corpus) -> list[str]:
    return [document.decode() for batch in corpus.batches() for document in batch.documents()]


def plain_lines(text: str) -> list[str]:
    *terminated, last = text.split("\n")
    lines = [line.removesuffix("\r") for line in terminated] + [last]
    return [line for line in lines if line]


def write_files(folder: Path, texts: list[str]) -> list[str]:
    """Write files of several layouts; return the documents they hold."""
    expected: list[str] = []
    for number, text in enumerate(texts):
        name = folder / f"{number:02}"
        documents = plain_lines(text)
        kind = number % 4
        if kind == 0:
            name.with_suffix(".txt").write_bytes(text.encode())
        elif kind == 1:
            records = "\n".join(json.dumps({"text": document}) for document in documents)
            name.with_suffix(".jsonl").write_bytes(records.encode())
        elif kind == 2:
            name.with_suffix(".log.gz").write_bytes(gzip.compress(text.encode()))
        else:
            name.with_suffix(".md").write_bytes(text.encode())
            documents = [text] if text else []
        expected += documents
    return expected


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(LINES, min_size=1, max_size=6),
    batch_bytes=st.sampled_from([1, 7, 1 << 20]),
    limit=st.sampled_from([5, 1 << 20]),
)
def test_shards_end_to_end_are_the_whole(texts: list[str], batch_bytes: int, limit: int) -> None:
    with TemporaryDirectory() as name, mock.patch.object(corpus_blocks, "WHOLE_READ_LIMIT", limit):
        folder = Path(name)
        expected = write_files(folder, texts)
        whole = Corpus(folder, batch_bytes=batch_bytes)
        assert read(whole) == expected
        for count in range(1, 8):
            documents: list[str] = []
            report, size = CorpusReport(), 0
            for index in range(count):
                part = Corpus(folder, shard=Shard(index, count), batch_bytes=batch_bytes)
                documents += read(part)
                report += part.report
                size += part.size or 0
            assert documents == expected
            assert report == whole.report
            assert size == whole.size


@given(text=LINES, batch_bytes=st.integers(1, 9), limit=st.sampled_from([3, 1 << 20]))
@settings(max_examples=60, deadline=None)
def test_batches_never_cut_a_line(text: str, batch_bytes: int, limit: int) -> None:
    with TemporaryDirectory() as name, mock.patch.object(corpus_blocks, "WHOLE_READ_LIMIT", limit):
        path = Path(name, "a.txt")
        path.write_bytes(text.encode())
        assert read(Corpus(path, batch_bytes=batch_bytes)) == plain_lines(text)


def test_one_large_file_is_shared_evenly(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0123456789\n" * 1000)
    sizes = [len(read(Corpus(tmp_path, shard=Shard(index, 7)))) for index in range(7)]
    assert sum(sizes) == 1000
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("limit", [4, 1 << 20])
def test_every_shard_skips_a_file_that_is_bad_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(corpus_blocks, "WHOLE_READ_LIMIT", limit)
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\n" * 20 + b"\xff\n")
    report = CorpusReport()
    for index in range(4):
        corpus = Corpus(path, shard=Shard(index, 4))
        assert read(corpus) == []
        assert corpus.report.skipped == (str(path),)
        report += corpus.report
    assert report == CorpusReport(skipped=(str(path),))


def test_line_number_in_a_later_shard(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n' * 9 + "bad\n")
    with pytest.raises(CorpusError, match="line 10"):
        read(Corpus(tmp_path, shard=Shard(1, 2)))


@pytest.mark.parametrize(("index", "count"), [(-1, 2), (2, 2), (0, 0)])
def test_shards_that_do_not_exist(index: int, count: int) -> None:
    with pytest.raises(SettingsError, match=f"shard {index} of {count}"):
        Shard(index, count)


def test_what_cannot_be_sharded() -> None:
    with pytest.raises(SettingsError, match="standard input"):
        Corpus("-", shard=Shard(0, 2))
    with pytest.raises(SettingsError, match="iterable of texts"):
        open_corpus((text for text in ["a"]), shard=Shard(0, 2))


class CountingTask:
    def __init__(self) -> None:
        self.steps: list[int] = []

    def advance(self, amount: int) -> None:
        self.steps.append(amount)


@pytest.mark.parametrize("limit", [64, 1 << 20])
@pytest.mark.parametrize("shard", [None, Shard(1, 3)])
def test_progress_comes_to_the_size_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, shard: Shard | None
) -> None:
    monkeypatch.setattr(corpus_blocks, "WHOLE_READ_LIMIT", limit)
    write_files(tmp_path, ["one\ntwo\n" * 50] * 8)
    (tmp_path / "empty.txt").touch()
    (tmp_path / "bad.txt").write_bytes(b"\xff" * 100)
    pq.write_table(pa.table({"text": ["a" * 50] * 30}), tmp_path / "z.parquet", row_group_size=7)
    corpus = Corpus(tmp_path, batch_bytes=20, shard=shard)
    task = CountingTask()
    for _ in corpus.batches(task):
        pass
    assert sum(task.steps) == corpus.size
    assert all(step > 0 for step in task.steps)
    assert len(task.steps) > 10


def test_texts() -> None:
    corpus = Corpus.from_texts(["one", "", "two", "e\u0301"], batch_bytes=4, normalize=True)
    batches = list(corpus.batches())
    assert [list(batch.documents()) for batch in batches] == [[b"one", b"two"], ["é".encode()]]
    assert {batch.source for batch in batches} == {"<python>"} == set(corpus.sources)
    assert corpus.report == CorpusReport(documents=3, bytes=8)
    assert corpus.size is None
    assert read(corpus) == ["one", "two", "é"]


def test_texts_with_lone_surrogates() -> None:
    corpus = Corpus.from_texts(["a\ud800", "b"])
    assert read(corpus) == ["a\ufffd", "b"]
    assert corpus.report.replaced_documents == 1
    with pytest.raises(CorpusError, match="document 0: lone surrogate"):
        read(Corpus.from_texts(["a\ud800"], strict=True))


def test_texts_of_another_type() -> None:
    with pytest.raises(CorpusError, match="document 1 of the iterable is of type dict"):
        read(Corpus.from_texts(["a", {"text": "b"}]))  # type: ignore[list-item]


def test_generator_is_read_once() -> None:
    corpus = open_corpus(text for text in ["a", "b"])
    assert read(corpus) == ["a", "b"]
    with pytest.raises(CorpusError, match="cannot be read again"):
        read(corpus)


def test_texts_are_taken_as_they_are_needed() -> None:
    taken = 0

    def texts() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "0123456789"

    next(Corpus.from_texts(texts(), batch_bytes=20).batches())
    assert taken == 2


def test_what_is_a_path_and_what_is_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("inside\n")
    assert read(open_corpus("a.txt")) == ["inside"]
    assert read(open_corpus(Path("a.txt"))) == ["inside"]
    assert read(open_corpus(["a.txt", "a.txt"])) == ["inside"] * 2
    assert read(open_corpus((Path("a.txt"), "a.txt"))) == ["inside"] * 2
    assert read(open_corpus(["b.txt", "x" * 10_000, "nul\0"])) == ["b.txt", "x" * 10_000, "nul\0"]
    assert read(open_corpus(["b.txt", "", "c.txt"])) == ["b.txt", "c.txt"]
    assert read(open_corpus(iter(["a.txt"]))) == ["a.txt"]
    assert read(open_corpus({"a.txt": 1}, text_field="text")) == ["a.txt"]
    with pytest.raises(CorpusError, match=r"1 of 2 inputs do not exist: 'b\.txt'"):
        open_corpus(["a.txt", "b.txt"])
    with pytest.raises(CorpusError, match="no such file"):
        open_corpus("b.txt")
    with pytest.raises(CorpusError, match="no inputs"):
        open_corpus([])
    for wrong in [b"bytes", 5]:
        with pytest.raises(CorpusError, match="cannot be of type"):
            open_corpus(wrong)  # type: ignore[arg-type]


def test_corpus_keeps_its_own_options(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    corpus = Corpus(tmp_path, strict=True)
    assert open_corpus(corpus) is corpus
    assert open_corpus(corpus, strict=True, text_field="text", shard=None) is corpus
    with pytest.raises(SettingsError, match="text_field='body'"):
        open_corpus(corpus, text_field="body")


def test_batch_size_must_be_positive() -> None:
    with pytest.raises(SettingsError, match="batch_bytes is 0"):
        Corpus.from_texts(["a"], batch_bytes=0)


def test_import_is_light() -> None:
    code = (
        "import sys, prunedbpe.corpus; print([m for m in ('pyarrow', 'lzma') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("kind", ["txt", "jsonl", "txt.gz", "jsonl.gz"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_fault_that_is_found_late(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    threads: int,
) -> None:
    """Whoever can forget has every file read once, and gets the same documents and report."""
    monkeypatch.setattr(corpus_module, "_WORTH_A_THREAD", 0)  # with two, read ahead
    good = b'{"text": "fine"}\n' * 50
    bad = good + b"\xff\n" + good
    files = {"a.txt": good, f"b.{kind}": bad, "c.txt": b"\xfe", "d.txt": good, "e.txt": bad}
    for name, data in files.items():
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    checked = Corpus(tmp_path, batch_bytes=100)
    expected = read(checked)
    corpus = Corpus(tmp_path, batch_bytes=100)
    documents: list[str] = []
    forgotten: list[int] = []
    task = CountingTask()

    def forget() -> None:
        forgotten.append(len(documents))
        documents.clear()

    caplog.clear()
    for batch in corpus.batches(task, threads=threads, forget=forget):
        documents += [document.decode() for document in batch.documents()]
    assert documents == expected
    assert len(forgotten) == 1 and forgotten[0] > 50
    assert corpus.report == checked.report
    names = [f"b.{kind}", "c.txt", "e.txt"]
    assert corpus.report.skipped == tuple(str(tmp_path / name) for name in names)
    assert [record.getMessage().rpartition("/")[2] for record in caplog.records] == [
        f"b.{kind}: skipped, not UTF-8 at byte 850",
        "c.txt: skipped, not UTF-8 at byte 0",
        "e.txt: skipped, not UTF-8 at byte 850",
    ]
    assert sum(task.steps) == corpus.size
    with pytest.raises(CorpusError, match=f"b.{kind}: not UTF-8 at byte 850"):
        list(Corpus(tmp_path, batch_bytes=100, strict=True).batches(forget=forget))


def test_counts_without_a_file_that_is_bad_at_its_end(tmp_path: Path) -> None:
    for name in ["a.txt", "b.txt", "c.txt"]:
        (tmp_path / name).write_bytes(f"words of {name}\n".encode() * 9)
    expected = {kind: count_by_source(tmp_path, sources=kind) for kind in ("files", "corpus")}
    whole = count(tmp_path)
    (tmp_path / "aa.txt").write_bytes(b"other words\n" * 9 + b"\xff")
    for batch_bytes in (20, 1 << 20):
        corpus = Corpus(tmp_path, batch_bytes=batch_bytes)
        assert dict(count(corpus).items()) == dict(whole.items())
        for kind, tables in expected.items():
            found = count_by_source(corpus, sources=kind)
            assert found.names == tables.names
            assert dict(found.total.items()) == dict(tables.total.items())
            assert found.total.corpus.skipped == (str(tmp_path / "aa.txt"),)


def test_a_line_longer_than_many_blocks(tmp_path: Path) -> None:
    lines = ["short", "long " * 1000, "end"]
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    corpus = Corpus(path, batch_bytes=7)
    batches = corpus.batches(forget=lambda: None)
    assert [document.decode() for batch in batches for document in batch.documents()] == lines


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(LINES, min_size=1, max_size=6),
    bad=st.sets(st.integers(0, 5)),
    at=st.integers(0, 60),
    batch_bytes=st.sampled_from([1, 7, 1 << 20]),
    threads=st.sampled_from([1, 2]),
)
@example(texts=["a", "b\nc"], bad={1}, at=20, batch_bytes=1, threads=1)
def test_read_once_is_as_checked_first(
    texts: list[str], bad: set[int], at: int, batch_bytes: int, threads: int
) -> None:
    """Wherever the faults are, also in the middle of what is no JSON because of them."""
    with TemporaryDirectory() as folder:
        write_files(Path(folder), texts)
        for number, path in enumerate(sorted(Path(folder).iterdir())):
            if number in bad:
                packed = path.suffix == ".gz"
                data = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
                data = data[:at] + b"\n\xff\n" + data[at:]
                path.write_bytes(gzip.compress(data) if packed else data)
        checked = Corpus(folder, batch_bytes=batch_bytes)
        expected = read(checked)
        once = Corpus(folder, batch_bytes=batch_bytes)
        documents: list[str] = []
        with mock.patch.object(corpus_module, "_WORTH_A_THREAD", 0):  # with two, read ahead
            for batch in once.batches(threads=threads, forget=documents.clear):
                documents += [document.decode() for document in batch.documents()]
        assert documents == expected
        assert once.report == checked.report
        assert len(once.report.skipped) == len(bad & set(range(len(texts))))
