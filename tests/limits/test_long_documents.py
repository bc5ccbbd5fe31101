"""A document that is too long is an error that names it, before it fills the memory."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prunedbpe.corpus import Corpus
from prunedbpe.errors import CorpusError, SettingsError

LIMIT = 100_000
LONG = "ab " * 50_000


def read(path, limit=LIMIT, **options) -> list[bytes]:
    corpus = Corpus(path, max_document_bytes=limit, **options)
    return [document for batch in corpus.batches() for document in batch.documents()]


def zstd(data: bytes) -> bytes:
    return pa.compress(data, codec="zstd", asbytes=True)


@pytest.mark.parametrize("batch_bytes", [1000, 1 << 20])
@pytest.mark.parametrize("name", ["a.txt", "a.py", "a.jsonl", "a.parquet"])
def test_long_documents(tmp_path, name, batch_bytes):
    path = tmp_path / name
    texts = ["short", LONG, "end"]
    if name == "a.parquet":
        pq.write_table(pa.table({"text": texts}), path)
    elif name == "a.jsonl":
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    else:
        path.write_text("\n".join(texts))
    with pytest.raises(CorpusError, match=rf"{name}, .*longer than 100 kB(.|\n)*--max-document"):
        read(path, batch_bytes=batch_bytes)
    assert len(b"".join(read(path, 200_000))) >= len(LONG)


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", zstd)],
)
@pytest.mark.parametrize("layout", ["txt", "py"])
def test_compressed_bombs(tmp_path, suffix, compress, layout):
    path = tmp_path / f"bomb.{layout}.{suffix}"
    path.write_bytes(compress(bytes(50_000_000)))
    assert path.stat().st_size < LIMIT
    with pytest.raises(CorpusError, match=rf"bomb\.{layout}\.{suffix}, byte 0: .*longer than"):
        read(path)


def test_the_limit_itself(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x" * LIMIT + b"\n" + b"y" * LIMIT)
    assert [len(document) for document in read(tmp_path)] == [LIMIT, LIMIT]
    with pytest.raises(CorpusError, match=r"a\.txt, byte 0"):
        read(tmp_path, LIMIT - 1)
    (tmp_path / "a.txt").write_bytes(b"x" * LIMIT + b"\n" + b"y" * (LIMIT + 1))
    with pytest.raises(CorpusError, match=rf"a\.txt, byte {LIMIT + 1}: "):
        read(tmp_path)
    with pytest.raises(SettingsError, match="max_document_bytes is 0"):
        Corpus(tmp_path, max_document_bytes=0)
