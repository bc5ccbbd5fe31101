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
from prunedbpe.corpus import corpus as corpus_module
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
)
def test_shards_end_to_end_are_the_whole(texts: list[str], batch_bytes: int) -> None:
    with TemporaryDirectory() as name:
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


@given(text=LINES, batch_bytes=st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_batches_never_cut_a_line(text: str, batch_bytes: int) -> None:
    with TemporaryDirectory() as name:
        path = Path(name, "a.txt")
        path.write_bytes(text.encode())
        assert read(Corpus(path, batch_bytes=batch_bytes)) == plain_lines(text)


def test_one_large_file_is_shared_evenly(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0123456789\n" * 1000)
    sizes = [len(read(Corpus(tmp_path, shard=Shard(index, 7)))) for index in range(7)]
    assert sum(sizes) == 1000
    assert max(sizes) - min(sizes) <= 1


def test_shards_report_each_skipped_line_once(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes((b"good\n" * 5 + b"\xff\n") * 8)
    whole = Corpus(path)
    assert len(read(whole)) == 40
    assert whole.report.skipped_documents == 8 == len(whole.report.skipped)
    report = CorpusReport()
    for index in range(7):
        corpus = Corpus(path, shard=Shard(index, 7))
        read(corpus)
        report += corpus.report
    assert report == whole.report


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
        self.text_bytes = 0

    def advance(self, amount: int, *, text_bytes: int = 0) -> None:
        self.steps.append(amount)
        self.text_bytes += text_bytes


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shard", [None, Shard(1, 3)])
def test_progress_comes_to_the_size_on_disk(
    tmp_path: Path, threads: int, shard: Shard | None
) -> None:
    write_files(tmp_path, ["one\ntwo\n" * 50] * 8)
    (tmp_path / "empty.txt").touch()
    (tmp_path / "bad.txt").write_bytes(b"\xff" * 100)
    pq.write_table(pa.table({"text": ["a" * 50] * 30}), tmp_path / "z.parquet", row_group_size=7)
    corpus = Corpus(tmp_path, batch_bytes=20, shard=shard)
    task = CountingTask()
    for _ in corpus.batches(task, threads=threads):
        pass
    assert sum(task.steps) == corpus.size
    assert task.text_bytes == corpus.report.bytes
    assert all(step >= 0 for step in task.steps)
    assert len(task.steps) > 10


def test_texts() -> None:
    corpus = Corpus.from_texts(["one", "", "two", "é"], batch_bytes=4)
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
    with pytest.raises(CorpusError, match=r"1 of 2 inputs do not exist; the first is 'b\.txt'"):
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


@pytest.mark.parametrize(
    "names", [["b.txt"], ["b.txt", "c.jsonl.gz"], ["data/part-0", "b.txt"], ["/no/such/folder"]]
)
def test_missing_paths_are_not_taken_for_texts(names: list[str]) -> None:
    with pytest.raises(CorpusError, match=f"the first is '{names[0]}'") as raised:
        open_corpus(names)
    assert "Corpus.from_texts" in str(raised.value.hint)


@pytest.mark.parametrize(
    "texts", [["see a/b and c.txt"], ["b.txt", "a text"], ["Hello."], ["3.14"], ["one", "two"]]
)
def test_texts_are_not_taken_for_paths(texts: list[str]) -> None:
    assert read(open_corpus(texts)) == texts


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(LINES, min_size=1, max_size=6),
    bad=st.sets(st.integers(0, 5)),
    at=st.integers(0, 60),
    batch_bytes=st.sampled_from([1, 7, 1 << 20]),
    threads=st.sampled_from([1, 2]),
)
@example(texts=["a", "b\nc"], bad={1}, at=20, batch_bytes=1, threads=1)
def test_only_what_is_not_utf8_is_skipped(
    texts: list[str], bad: set[int], at: int, batch_bytes: int, threads: int
) -> None:
    """A line that is not UTF-8, put between two lines of any file, changes no other document."""
    with TemporaryDirectory() as folder:
        expected = write_files(Path(folder), texts)
        skipped = 0
        for number, path in enumerate(sorted(Path(folder).iterdir())):
            if number in bad and path.suffix != ".md":
                packed = path.suffix == ".gz"
                data = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
                lines = data.split(b"\n")
                # Before the last line, which has no end: an end would make its "\r" part of it.
                lines.insert(at % len(lines), b"\xff")
                data = b"\n".join(lines)
                path.write_bytes(gzip.compress(data) if packed else data)
                skipped += 1
        corpus = Corpus(folder, batch_bytes=batch_bytes)
        documents: list[str] = []
        with mock.patch.object(corpus_module, "_WORTH_A_THREAD", 0):  # read ahead
            for batch in corpus.batches(threads=threads):
                documents += [document.decode() for document in batch.documents()]
        assert documents == expected
        assert corpus.report.skipped_documents == skipped == len(corpus.report.skipped)
        assert corpus.report.documents == len(expected)
        assert corpus.report.files == len(texts)
