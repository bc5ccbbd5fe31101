"""Reading files: each layout, each compression, the order of folders, what is skipped."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import logging
import lzma
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prunedbpe.corpus import Corpus, CorpusReport, streams
from prunedbpe.corpus import blocks as corpus_blocks
from prunedbpe.errors import CorpusError, FormatError

TEXTS = ["Hello, world", "中文文本", "naïve", "x" * 50]
LINES = "\n".join(TEXTS).encode() + b"\n"
JSON_LINES = b"".join(
    json.dumps({"id": n, "text": t}).encode() + b"\n" for n, t in enumerate(TEXTS)
)


def read(corpus: Corpus) -> list[str]:
    return [document.decode() for batch in corpus.batches() for document in batch.documents()]


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


COMPRESSORS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}


@pytest.mark.parametrize("extension", ["txt", "log", "html", "htm", "TXT"])
def test_lines_are_documents(tmp_path: Path, extension: str) -> None:
    assert read(Corpus(write(tmp_path / f"a.{extension}", LINES))) == TEXTS


@pytest.mark.skipif(not hasattr(os, "preadv"), reason="the system reads files from one place only")
@pytest.mark.parametrize("name", ["a.txt", "README"])
def test_a_large_file_read_by_many_threads(tmp_path: Path, monkeypatch, name: str) -> None:
    data = b"".join(b"line %d\n" % n for n in range(400_000))
    corpus = Corpus(write(tmp_path / name, data))

    def documents(threads: int) -> list[bytes]:
        batches = corpus.batches(threads=threads)
        return [document for batch in batches for document in batch.documents()]

    assert documents(3) == documents(1)
    assert documents(1000) == documents(1)
    preadv = os.preadv
    monkeypatch.setattr(os, "preadv", lambda fd, buffers, at: preadv(fd, [buffers[0][:70_000]], at))
    assert documents(3) == documents(1)
    # Where a part ends early, one reader goes on from there to the end.
    monkeypatch.setattr(os, "preadv", lambda fd, buffers, at: 0 if at else preadv(fd, buffers, at))
    assert documents(3) == documents(1)

    def fail(*arguments: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "preadv", fail)
    with pytest.raises(CorpusError, match=f"{name}: cannot be read: Input/output error"):
        documents(3)


@pytest.mark.parametrize("name", ["a.py", "README", "a.md", "a.json"])
def test_any_other_text_file_is_one_document(tmp_path: Path, name: str) -> None:
    assert read(Corpus(write(tmp_path / name, LINES))) == [LINES.decode()]


@pytest.mark.parametrize("extension", ["jsonl", "ndjson"])
def test_json_lines(tmp_path: Path, extension: str) -> None:
    path = write(tmp_path / f"a.{extension}", b"\n" + JSON_LINES + b'  \r\n{"text": ""}')
    assert read(Corpus(path)) == TEXTS


def test_json_lines_end_at_line_feeds_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "a\u2028b\x85c"}\n'.encode())
    assert read(Corpus(path)) == ["a\u2028b\x85c"]


def test_text_field_of_json_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b'{"content": "yes", "text": "no"}\n')
    assert read(Corpus(path, text_field="content")) == ["yes"]


@pytest.fixture(params=[True, False], ids=["with extras", "without"])
def with_extras(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is unpacked by an extra where that is installed is unpacked without it too."""
    if request.param:
        pytest.importorskip("isal")
    else:
        monkeypatch.setitem(sys.modules, "isal", None)
    streams._unpack_gzip.cache_clear()
    yield
    streams._unpack_gzip.cache_clear()


@pytest.mark.usefixtures("with_extras")
@pytest.mark.parametrize("compression", COMPRESSORS)
@pytest.mark.parametrize("limit", [None, 10])
def test_compressed_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compression: str, limit: int | None
) -> None:
    if limit:
        monkeypatch.setattr(corpus_blocks, "WHOLE_READ_LIMIT", limit)
    pack = COMPRESSORS[compression]
    # Two compressed parts one after the other are one file, as `cat a.gz b.gz` makes them.
    lines = write(tmp_path / f"a.txt.{compression}", pack(LINES) + pack(b"last"))
    records = write(tmp_path / f"b.jsonl.{compression}", pack(JSON_LINES))
    whole = write(tmp_path / f"c.{compression}", pack(LINES))
    empty = write(tmp_path / f"d.txt.{compression}", b"")
    corpus = Corpus([lines, records, whole, empty])
    assert read(corpus) == [*TEXTS, "last", *TEXTS, LINES.decode()]
    assert corpus.report.files == 4


@pytest.mark.usefixtures("with_extras")
@pytest.mark.parametrize("compression", COMPRESSORS)
@pytest.mark.parametrize("damage", ["cut", "other", "flipped"])
def test_damaged_compressed_file(tmp_path: Path, compression: str, damage: str) -> None:
    packed = COMPRESSORS[compression](os.urandom(5000).hex().encode())
    if damage == "flipped":
        if compression == "zst":
            pytest.skip("Arrow writes it without a checksum, so it may unpack to other text")
        data = packed[:1000] + bytes(byte ^ 0xFF for byte in packed[1000:1100]) + packed[1100:]
    else:
        data = packed[:-20] if damage == "cut" else b"this was never compressed at all"
    path = write(tmp_path / f"a.txt.{compression}", data)
    with pytest.raises(CorpusError, match=r"a\.txt.*damaged"):
        read(Corpus(path))


@pytest.mark.parametrize("text_type", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("batch_bytes", [1, 20, 1 << 20])
def test_parquet(tmp_path: Path, text_type: pa.DataType, batch_bytes: int) -> None:
    column = pa.array([TEXTS[0], None, *TEXTS[1:], "", None], type=text_type)
    table = pa.table({"id": list(range(len(column))), "text": column})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=3)
    corpus = Corpus(tmp_path / "a.parquet", batch_bytes=batch_bytes)
    assert read(corpus) == TEXTS
    assert corpus.report.documents == len(TEXTS)
    assert corpus.report.bytes == sum(len(text.encode()) for text in TEXTS)


def test_parquet_dictionary_column(tmp_path: Path) -> None:
    column = pa.array(["a", "b", "a", None]).dictionary_encode()
    pq.write_table(pa.table({"body": column}), tmp_path / "a.parquet")
    assert read(Corpus(tmp_path / "a.parquet", text_field="body")) == ["a", "b", "a"]


def test_parquet_without_rows(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "a.parquet")
    assert read(Corpus(tmp_path / "a.parquet")) == []


def test_parquet_errors(tmp_path: Path) -> None:
    pq.write_table(pa.table({"body": ["a"], "text": [1]}), tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match="no column 'content'; the columns are: 'body', 'text'"):
        read(Corpus(tmp_path / "a.parquet", text_field="content"))
    with pytest.raises(CorpusError, match="holds int64, not text"):
        read(Corpus(tmp_path / "a.parquet"))
    with pytest.raises(CorpusError, match=r"b\.parquet: cannot be read as Parquet"):
        read(Corpus(write(tmp_path / "b.parquet", b"PAR1 no")))
    with pytest.raises(CorpusError, match="compressed Parquet"):
        Corpus(write(tmp_path / "c.parquet.gz", b""))


def test_parquet_text_that_is_not_utf8(tmp_path: Path) -> None:
    # Valid together, but the cut goes through a character: each row must be looked at by itself.
    halves = pa.array(["中".encode()[:1], "中".encode()[1:]], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": halves}), tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match=r"a\.parquet: a text .* is not UTF-8"):
        read(Corpus(tmp_path / "a.parquet"))


def test_standard_input(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    data = b"\xef\xbb\xbfone\nbad \xff line\ntwo\r\nthree"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    corpus = Corpus("-", normalize=True)
    assert corpus.size is None
    with caplog.at_level(logging.WARNING):
        assert read(corpus) == ["one", "two", "three"]
    assert corpus.report == CorpusReport(3, 11, 1, ("-",), skipped_lines=1)
    assert "1 lines skipped" in caplog.text
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.raises(CorpusError, match="not UTF-8 at byte 11"):
        read(Corpus("-", strict=True))
    with pytest.raises(CorpusError, match="twice"):
        Corpus(["-", "-"])


def test_folder_order_and_hidden_files(tmp_path: Path) -> None:
    # Byte order of the whole relative path: "-" < "/" < "B" < "a", and é after every ASCII letter.
    for name in ["é.txt", "b/x.txt", "b-x.txt", "B.txt", "a.txt", "b/.hidden.txt", ".git/c.txt"]:
        write(tmp_path / name, name.encode())
    corpus = Corpus(tmp_path)
    assert read(corpus) == ["B.txt", "a.txt", "b-x.txt", "b/x.txt", "é.txt"]
    assert corpus.sources == [(tmp_path / name).as_posix() for name in read(corpus)]


def test_order_of_inputs_is_kept(tmp_path: Path) -> None:
    b = write(tmp_path / "b.txt", b"b")
    a = write(tmp_path / "a.txt", b"a")
    assert read(Corpus([b, a, b])) == ["b", "a", "b"]
    assert Corpus([b, a]).fingerprint() == [
        {"path": str(b), "bytes": 1},
        {"path": str(a), "bytes": 1},
    ]


def test_links_that_go_round(tmp_path: Path) -> None:
    write(tmp_path / "a" / "x.txt", b"x")
    (tmp_path / "a" / "again").symlink_to(tmp_path, target_is_directory=True)
    assert read(Corpus(tmp_path)) == ["x"]


@pytest.mark.parametrize("limit", [1 << 20, 4])
@pytest.mark.parametrize("extension", ["txt", "jsonl", "bin"])
def test_file_that_is_not_utf8_gives_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    extension: str,
    limit: int,
) -> None:
    monkeypatch.setattr(corpus_blocks, "WHOLE_READ_LIMIT", limit)
    bad = write(tmp_path / f"b.{extension}", b'{"text": "good"}\n' * 3 + b"\xff\n")
    write(tmp_path / "a.txt", b"first")
    write(tmp_path / "c.txt", b"last")
    corpus = Corpus(tmp_path, batch_bytes=5)
    with caplog.at_level(logging.WARNING, logger="prunedbpe"):
        assert read(corpus) == ["first", "last"]
    assert corpus.report.skipped == (str(bad),)
    assert corpus.report.files == 2
    assert f"{bad}: skipped, not UTF-8 at byte 51" in caplog.text
    with pytest.raises(CorpusError, match="not UTF-8 at byte 51") as raised:
        read(Corpus(tmp_path, strict=True))
    assert raised.value.hint is not None


@pytest.mark.parametrize("limit", [1 << 20, 2])
def test_byte_order_mark_is_dropped_at_the_start_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(corpus_blocks, "WHOLE_READ_LIMIT", limit)
    mark = "\ufeff"
    write(tmp_path / "a.txt", f"{mark}a\n{mark}b".encode())
    write(tmp_path / "b.md", f"{mark}a\n{mark}b".encode())
    write(tmp_path / "c.jsonl", f'{mark}{{"text": "c"}}\n'.encode())
    write(tmp_path / "d.txt", mark.encode())
    assert read(Corpus(tmp_path, batch_bytes=1)) == ["a", f"{mark}b", f"a\n{mark}b", "c"]


def test_empty_files(tmp_path: Path) -> None:
    for name in ["a.txt", "b.md", "c.jsonl", "d.txt.zst"]:
        write(tmp_path / name, b"")
    corpus = Corpus(tmp_path)
    assert list(corpus.batches()) == []
    assert corpus.report == CorpusReport(files=4)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "a"', "line 3: not JSON"),
        (b"[" * 100_000, "line 3: not JSON"),
        (b'["text"]', "line 3: not a JSON object but list"),
        (b'{"id": 1, "body": "a"}', "line 3: no field 'text'; the fields are: 'id', 'body'"),
        (b'{"text": 5}', "line 3: field 'text' is int, not a string"),
        (b'{"text": null}', "line 3: field 'text' is NoneType, not a string"),
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_bad_json_lines(tmp_path: Path, line: bytes, message: str, compressed: bool) -> None:
    data = b'{"text": "fine"}\n\n' + line + b"\n"
    if compressed:
        path = write(tmp_path / "a.jsonl.gz", gzip.compress(data))
    else:
        path = write(tmp_path / "a.jsonl", data)
    with pytest.raises(CorpusError, match=message) as raised:
        read(Corpus(path, batch_bytes=4))
    assert str(path) in str(raised.value)
    assert raised.value.hint is not None


def test_lone_surrogates_in_json(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b'{"text": "\\ud83d\\ude00"}\n{"text": "a\\ud800b"}\n')
    corpus = Corpus(path)
    assert read(corpus) == ["😀", "a\ufffdb"]
    assert corpus.report.replaced_documents == 1
    with pytest.raises(CorpusError, match="line 2: lone surrogate U\\+D800 at character 1"):
        read(Corpus(path, strict=True))


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.txt", "no such file"), ("empty", "holds no files"), ("a.tar.gz", "archive")],
)
def test_inputs_that_cannot_be_read(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "a.tar.gz", b"")
    with pytest.raises(CorpusError, match=message) as raised:
        Corpus(tmp_path / name)
    assert name in str(raised.value)


def test_no_inputs() -> None:
    with pytest.raises(CorpusError, match="no inputs"):
        Corpus([])
    with pytest.raises(CorpusError, match="empty name"):
        Corpus("")


def test_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match="neither a file nor a folder"):
        Corpus(tmp_path / "pipe")


def test_file_that_vanishes(tmp_path: Path) -> None:
    corpus = Corpus(write(tmp_path / "a.txt", b"a"))
    (tmp_path / "a.txt").unlink()
    with pytest.raises(CorpusError, match=r"a\.txt: cannot be read"):
        read(corpus)


def test_file_that_changes_between_two_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_blocks, "WHOLE_READ_LIMIT", 4)
    path = write(tmp_path / "a.txt", b"one\ntwo\nthree\n")
    batches = Corpus(path, batch_bytes=4).batches()
    next(batches)
    path.write_bytes(b"one\nt\xffo\nthree\n")
    with pytest.raises(CorpusError, match="changed while it was read"):
        list(batches)


def test_normal_form(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "e\u0301\nplain\ne\u0301x".encode())
    assert read(Corpus(path)) == ["e\u0301", "plain", "e\u0301x"]
    corpus = Corpus(path, normalize=True)
    assert read(corpus) == ["é", "plain", "éx"]
    assert corpus.report.bytes == len("éplainéx".encode())


def test_report_as_settings() -> None:
    report = CorpusReport(3, 11, 1, ("a", "b"), replaced_documents=2, skipped_lines=1)
    settings = json.loads(json.dumps(report.as_settings()))
    assert CorpusReport.from_settings(settings) == report
    with pytest.raises(FormatError, match="'pages'"):
        CorpusReport.from_settings({"pages": 1})
    with pytest.raises(FormatError, match="'skipped'"):
        CorpusReport.from_settings({"skipped": "a"})
