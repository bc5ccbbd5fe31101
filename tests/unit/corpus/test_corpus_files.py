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

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prunedbpe.corpus import Corpus, CorpusReport, Shard, blocks
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


@pytest.mark.parametrize("name", ["a.txt", "README", "a.txt.gz"])
def test_threads_do_not_change_a_large_file(tmp_path: Path, name: str) -> None:
    data = b"".join(b"line %d\n" % n for n in range(400_000))
    packed = gzip.compress(data, 1) if name.endswith("gz") else data
    corpus = Corpus(write(tmp_path / name, packed), batch_bytes=1 << 20)

    def documents(threads: int) -> list[bytes]:
        batches = corpus.batches(threads=threads)
        return [document for batch in batches for document in batch.documents()]

    expected = [data] if name == "README" else data.splitlines()
    assert documents(1) == expected
    assert documents(3) == expected
    assert documents(1000) == expected


def test_a_line_longer_than_many_blocks(tmp_path: Path) -> None:
    lines = ["short", "long " * 1000, "end"]
    for name, pack in (("a.txt", bytes), ("a.txt.gz", gzip.compress)):
        path = write(tmp_path / name, pack("\n".join(lines).encode()))
        assert read(Corpus(path, batch_bytes=7)) == lines


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
    """With and without the optional package that unpacks gzip."""
    if request.param:
        pytest.importorskip("isal")
    else:
        monkeypatch.setitem(sys.modules, "isal", None)
    blocks._unpack_gzip.cache_clear()
    yield
    blocks._unpack_gzip.cache_clear()


@pytest.mark.usefixtures("with_extras")
@pytest.mark.parametrize("compression", COMPRESSORS)
@pytest.mark.parametrize("batch_bytes", [10, 1 << 20])
def test_compressed_files(tmp_path: Path, compression: str, batch_bytes: int) -> None:
    pack = COMPRESSORS[compression]
    # Two compressed parts one after the other are one file, as `cat a.gz b.gz` makes them.
    lines = write(tmp_path / f"a.txt.{compression}", pack(LINES) + pack(b"last"))
    records = write(tmp_path / f"b.jsonl.{compression}", pack(JSON_LINES))
    whole = write(tmp_path / f"c.{compression}", pack(LINES))
    empty = write(tmp_path / f"d.txt.{compression}", b"")
    corpus = Corpus([lines, records, whole, empty], batch_bytes=batch_bytes)
    assert read(corpus) == [*TEXTS, "last", *TEXTS, LINES.decode()]
    assert corpus.report.files == 4


# Arrow writes .zst without a checksum, so flipped bits may unpack to other text.
DAMAGES = [
    (compression, damage)
    for compression in COMPRESSORS
    for damage in ("cut", "other", "flipped")
    if (compression, damage) != ("zst", "flipped")
]


@pytest.mark.usefixtures("with_extras")
@pytest.mark.parametrize(("compression", "damage"), DAMAGES)
def test_damaged_compressed_file(tmp_path: Path, compression: str, damage: str) -> None:
    packed = COMPRESSORS[compression](os.urandom(5000).hex().encode())
    if damage == "flipped":
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


@pytest.mark.parametrize("batch_bytes", [1, 1 << 20])
def test_parquet_text_that_is_not_utf8(tmp_path: Path, batch_bytes: int) -> None:
    # Valid together, but the cut goes through a character: each row must be checked by itself.
    rows = [b"good", None, "中".encode()[:1], "中".encode()[1:], b"", b"fine", b"\xff"]
    column = pa.array(rows, pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    corpus = Corpus(tmp_path / "a.parquet", batch_bytes=batch_bytes)
    assert read(corpus) == ["good", "fine"]
    places = tuple(f"{tmp_path}/a.parquet, row {row}: not UTF-8" for row in (2, 3, 6))
    assert corpus.report == CorpusReport(2, 8, 1, 3, places)
    with pytest.raises(CorpusError, match=r"a\.parquet, row 2: not UTF-8"):
        read(Corpus(tmp_path / "a.parquet", strict=True))


def test_parquet_is_divided_by_row_groups(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(40)]
    rows = pa.array([*[text.encode() for text in texts], b"\xff"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": rows}), tmp_path / "a.parquet", row_group_size=4)
    shards = [Corpus(tmp_path, shard=Shard(index, 3)) for index in range(3)]
    held = [read(shard) for shard in shards]
    # Groups begin at rows 0, 4 ... 40 of 41; the thirds of the file at rows 13.7 and 27.3.
    assert held == [texts[:16], texts[16:28], texts[28:]]
    assert shards[2].report.skipped == (f"{tmp_path}/a.parquet, row 40: not UTF-8",)
    assert [shard.report.files for shard in shards] == [1, 0, 0]


def test_standard_input(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    data = b"\xef\xbb\xbfone\nbad \xff line\ntwo\r\nthree"
    give(data)
    corpus = Corpus("-")
    assert corpus.size is None
    with caplog.at_level(logging.WARNING):
        assert read(corpus) == ["one", "two", "three"]
    assert corpus.report == CorpusReport(3, 11, 1, 1, ("-, byte 11: not UTF-8",))
    assert "-, byte 11: not UTF-8; 1 document of this file skipped" in caplog.text
    give(data)
    with pytest.raises(CorpusError, match="-, byte 11: not UTF-8"):
        read(Corpus("-", strict=True))
    give("text\n".encode("utf-16"))
    corpus = Corpus("-")
    assert read(corpus) == []
    assert corpus.report.skipped == ("-: UTF-16, not UTF-8",)
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


@pytest.mark.parametrize("batch_bytes", [5, 1 << 20])
@pytest.mark.parametrize("compression", [None, "gz", "zst"])
@pytest.mark.parametrize("extension", ["txt", "jsonl"])
def test_a_line_that_is_not_utf8_is_skipped_by_itself(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    extension: str,
    compression: str | None,
    batch_bytes: int,
) -> None:
    good, bad = b'{"text": "good"}\n', b'{"text": "\xff"}\n'
    pack = COMPRESSORS[compression] if compression else bytes
    name = f"b.{extension}" + (f".{compression}" if compression else "")
    path = write(tmp_path / name, pack(good * 3 + bad + good + bad * 30 + b"\xe4\xb8\n" + good))
    write(tmp_path / "a.txt", b"first")
    write(tmp_path / "c.txt", b"last")
    corpus = Corpus(tmp_path, batch_bytes=batch_bytes)
    with caplog.at_level(logging.WARNING, logger="prunedbpe"):
        documents = read(corpus)
    kept = ["good"] * 5 if extension == "jsonl" else [good.decode().strip()] * 5
    assert documents == ["first", *kept, "last"]
    assert corpus.report.files == 3
    assert corpus.report.skipped_documents == 32
    assert len(corpus.report.skipped) == 20
    assert corpus.report.skipped[:2] == (
        f"{path}, byte 61: not UTF-8",
        f"{path}, byte 92: not UTF-8",
    )
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}, byte 61: not UTF-8; 32 documents of this file skipped"
    ]
    with pytest.raises(CorpusError, match=f"{name}, byte 61: not UTF-8") as raised:
        read(Corpus(tmp_path, strict=True, batch_bytes=batch_bytes))
    assert raised.value.hint is not None


def test_a_whole_file_that_is_not_utf8_is_skipped(tmp_path: Path) -> None:
    write(tmp_path / "a.md", b"good\n\xff\ngood")
    write(tmp_path / "b.md", b"fine")
    corpus = Corpus(tmp_path)
    assert read(corpus) == ["fine"]
    assert corpus.report == CorpusReport(1, 4, 2, 1, (f"{tmp_path}/a.md, byte 5: not UTF-8",))


def test_no_file_is_opened_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.txt", "b.md", "c.jsonl"):
        write(tmp_path / name, b'{"text": "x"}\n' * 500 + b"\xff\n")
    opened: list[str] = []
    plain_open = blocks._open
    monkeypatch.setattr(blocks, "_open", lambda f: opened.append(f.path.name) or plain_open(f))
    for _ in Corpus(tmp_path, batch_bytes=100).batches(threads=2):
        pass
    assert opened == ["a.txt", "b.md", "c.jsonl"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.jsonl", "a.txt.gz"])
@pytest.mark.parametrize("shards", [1, 3])
def test_utf16_is_recognised(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, encoding: str, name: str, shards: int
) -> None:
    data = ("Some text, naïve 中文.\n" * 500).encode(encoding)
    path = write(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
    write(tmp_path / "b.txt", b"plain")
    documents, report = [], CorpusReport()
    for index in range(shards):
        corpus = Corpus(tmp_path, shard=Shard(index, shards), batch_bytes=100)
        documents += read(corpus)
        report += corpus.report
    assert documents == ["plain"]
    assert report == CorpusReport(1, 5, 2, 1, (f"{path}: UTF-16, not UTF-8",))
    (warning,) = (record.getMessage() for record in caplog.records)
    command = "iconv -f UTF-16 -t UTF-8"
    assert warning.startswith(f"{path}: UTF-16, not UTF-8; file skipped") and command in warning
    with pytest.raises(CorpusError, match="UTF-16, not UTF-8") as raised:
        read(Corpus(path, strict=True))
    assert command in str(raised.value.hint)


@pytest.mark.parametrize("text", ["a", "\0", "\0\0\0\0\0\0", "a\0", "ab\0cd" * 9, "text " * 9])
def test_text_with_a_few_nuls_is_not_utf16(tmp_path: Path, text: str) -> None:
    assert read(Corpus(write(tmp_path / "a.txt", text.encode()))) == [text]


@pytest.mark.parametrize("batch_bytes", [1, 1 << 20])
def test_byte_order_mark_is_dropped_at_the_start_only(tmp_path: Path, batch_bytes: int) -> None:
    mark = "\ufeff"
    write(tmp_path / "a.txt", f"{mark}a\n{mark}b".encode())
    write(tmp_path / "b.md", f"{mark}a\n{mark}b".encode())
    write(tmp_path / "c.jsonl", f'{mark}{{"text": "c"}}\n'.encode())
    write(tmp_path / "d.txt", mark.encode())
    write(tmp_path / "e.md", mark.encode())
    expected = ["a", f"{mark}b", f"a\n{mark}b", "c"]
    assert read(Corpus(tmp_path, batch_bytes=batch_bytes)) == expected


def test_excluded_folders(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", b"text")
    write(tmp_path / "out" / "vocab.txt", b"'a'")
    write(tmp_path / "out" / "deep" / "b.txt", b"b")
    assert read(Corpus(tmp_path)) == ["text", "b", "'a'"]
    assert read(Corpus(tmp_path, excluding=[tmp_path / "out", None])) == ["text"]
    assert read(Corpus(tmp_path, excluding=[tmp_path / "not there"])) == ["text", "b", "'a'"]
    # A path that is named itself is read, also where the output is the folder around it.
    assert read(Corpus(tmp_path / "a.txt", excluding=[tmp_path])) == ["text"]
    assert read(Corpus(tmp_path / "out" / "deep", excluding=[tmp_path])) == ["b"]
    (tmp_path / "a.txt").unlink()
    for folder in (tmp_path, tmp_path / "out"):
        with pytest.raises(CorpusError, match=r"all files are in a folder that is excluded: .*out"):
            Corpus(folder, excluding=[tmp_path / "out"])


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


def test_normal_form(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "e\u0301\nplain\ne\u0301x".encode())
    (batch,) = Corpus(path).batches()
    assert [d.decode() for d in batch.documents()] == ["e\u0301", "plain", "e\u0301x"]
    normalized = batch.normalized("NFC")
    assert [d.decode() for d in normalized.documents()] == ["é", "plain", "éx"]
    assert (normalized.text_bytes, normalized.source) == (len("éplainéx".encode()), batch.source)
    assert normalized.normalized("NFC") is normalized


def test_batches_are_arrays(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": TEXTS}), tmp_path / "a.parquet")
    write(tmp_path / "b.txt", LINES)
    write(tmp_path / "c.jsonl", JSON_LINES)
    write(tmp_path / "d.md", LINES)
    for batch in Corpus(tmp_path).batches():
        assert isinstance(batch.data, np.ndarray) and batch.data.dtype == np.uint8
        assert isinstance(batch.spans, np.ndarray) and batch.spans.dtype == np.int64
        assert batch.spans.shape == (len(batch), 2)


def test_why_a_corpus_is_empty(tmp_path: Path) -> None:
    def why(corpus: Corpus) -> str:
        assert read(corpus) == []
        return corpus.report.why_empty()

    for number in range(3):
        write(tmp_path / "bad" / f"{number}.md", b"\xff")
        write(tmp_path / "empty" / f"{number}.txt", b"\n\n")
    assert (
        why(Corpus(tmp_path / "bad"))
        == "no text was read: 3 documents of 3 files skipped, not UTF-8"
    )
    assert why(Corpus(tmp_path / "empty")) == "no text was read: 3 files, all empty"
    assert why(Corpus(tmp_path / "empty" / "0.txt")) == "no text was read: 1 file, empty"
    assert why(Corpus.from_texts(["", ""])) == "no text was read from the iterable"


def test_report_as_settings() -> None:
    report = CorpusReport(3, 11, 1, 2, ("a", "b"), replaced_documents=2)
    settings = json.loads(json.dumps(report.as_settings()))
    assert CorpusReport.from_settings(settings) == report
    with pytest.raises(FormatError, match="'pages'"):
        CorpusReport.from_settings({"pages": 1})
    with pytest.raises(FormatError, match="'skipped'"):
        CorpusReport.from_settings({"skipped": "a"})
