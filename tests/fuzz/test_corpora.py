"""Damaged corpora: documents are read or skipped with a report, or an error names the file."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz.law import SEEDS, time_limit
from fuzz.mutations import damaged_bytes

import prunedbpe
from prunedbpe.corpus import Corpus
from prunedbpe.errors import CorpusError

TEXTS = ["the cat's hat", "中文 é 👍🏽", "", 'a "quoted" \\ text', "x" * 500, "\u2028\x7f end"] * 7
LINES = "\n".join(TEXTS).encode()
JSON_LINES = "".join(
    json.dumps({"text": text, "lang": "en", "n": i}, ensure_ascii=i % 2 == 0) + "\n"
    for i, text in enumerate(TEXTS)
).encode()


def zstd(data: bytes) -> bytes:
    return pa.compress(data, codec="zstd", asbytes=True)


def parquet() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": TEXTS, "lang": ["en"] * len(TEXTS)}), sink, row_group_size=20)
    return bytes(sink.getvalue())


FILES = {
    "a.txt": LINES,
    "a.md": LINES,
    "a.jsonl": JSON_LINES,
    "a.txt.gz": gzip.compress(LINES, mtime=0),
    "a.jsonl.gz": gzip.compress(JSON_LINES, mtime=0),
    "a.txt.bz2": bz2.compress(LINES),
    "a.jsonl.xz": lzma.compress(JSON_LINES),
    "a.txt.zst": zstd(LINES),
    "a.parquet": parquet(),
}


@pytest.mark.parametrize("name", FILES)
def test_damaged_corpora(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for seed in SEEDS:
        path.write_bytes(damaged_bytes(FILES[name], seed))
        corpus = Corpus(path, source_field="lang", max_document_bytes=10_000_000)
        with time_limit():
            try:
                counted = prunedbpe.count_by_source(corpus)
            except CorpusError as error:
                assert name in str(error), seed
                continue
        # All that was read is counted, once.
        assert counted.total.total_bytes == corpus.report.bytes, seed
        documents = [text for batch in corpus.batches() for text in batch.documents()]
        assert len(documents) == corpus.report.documents, seed
        assert all(text.decode() for text in documents), seed
