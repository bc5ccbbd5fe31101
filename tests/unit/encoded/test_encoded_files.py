"""Encoded corpora: every format holds the same ids, in order, and a stopped run goes on."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import prunedbpe
from prunedbpe.encoded import FILE_FORMATS, encode_column, encode_corpus, encode_files, encode_to_arrow, open_encoded
from prunedbpe.errors import CorpusError, SettingsError

DOCUMENTS = ["the cat sat", "中文 on the mat", "that hat", "a", "the the the the"]


@pytest.fixture(scope="module")
def tok():
    return prunedbpe.train(iter(DOCUMENTS * 3), vocab_size=275, threshold=0)


def read(path, format):
    if format == "jsonl":
        return [json.loads(line)["ids"] for line in path.read_text("utf-8").splitlines()]
    if format in ("npy", "bin"):
        return [ids.tolist() for ids in open_encoded(path)]
    if format == "parquet":
        import pyarrow.parquet as pq

        return pq.read_table(path)["ids"].to_pylist()
    import pyarrow as pa

    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()["ids"].to_pylist()


@pytest.mark.parametrize("format", FILE_FORMATS)
@pytest.mark.parametrize("batch_bytes", [1, 20, 1 << 20])
def test_formats_hold_the_ids(tok, format, batch_bytes, tmp_path):
    corpus = prunedbpe.Corpus.from_texts(DOCUMENTS, batch_bytes=batch_bytes)
    path = tmp_path / f"out.{format}"
    report = encode_corpus(tok, corpus, path)
    expected = tok.encode_batch(DOCUMENTS)
    assert read(path, format) == expected
    assert report.documents == len(DOCUMENTS)
    assert report.tokens == sum(map(len, expected))
    assert report.bytes == sum(len(text.encode()) for text in DOCUMENTS)


@pytest.mark.parametrize("format", FILE_FORMATS)
def test_a_file_that_is_bad_at_its_end_leaves_no_ids(tok, format, tmp_path, caplog):
    texts = tmp_path / "texts"
    texts.mkdir()
    for name in ("a.txt", "c.txt"):
        (texts / name).write_text("\n".join(DOCUMENTS), "utf-8")
    (texts / "b.txt").write_bytes(b"the cat\n" * 20 + b"\xff\n")
    path = tmp_path / f"out.{format}"
    report = encode_corpus(tok, prunedbpe.Corpus(texts, batch_bytes=20), path)
    assert read(path, format) == tok.encode_batch(DOCUMENTS * 2)
    assert report.documents == 2 * len(DOCUMENTS)
    assert [record.getMessage() for record in caplog.records] == [
        f"{texts / 'b.txt'}: skipped, not UTF-8 at byte 160"
    ]
    with pytest.raises(CorpusError, match=r"b\.txt: not UTF-8 at byte 160"):
        encode_corpus(tok, prunedbpe.Corpus(texts, batch_bytes=20, strict=True), path)
    assert read(path, format) == tok.encode_batch(DOCUMENTS * 2)  # what was there is there


def test_width_follows_the_vocabulary(tok, tmp_path):
    encode_corpus(tok, iter(DOCUMENTS), tmp_path / "a.bin")
    assert open_encoded(tmp_path / "a.bin").ids.dtype == np.uint16
    assert (tmp_path / "a.bin").stat().st_size == 2 * len(open_encoded(tmp_path / "a.bin").ids)
    assert np.load(tmp_path / "a.offsets.npy").tolist()[0] == 0


@pytest.mark.parametrize("format", FILE_FORMATS)
def test_an_empty_corpus(tok, format, tmp_path):
    encode_corpus(tok, iter([]), tmp_path / f"a.{format}")
    assert read(tmp_path / f"a.{format}", format) == []


def test_a_token_behind_every_document(tok, tmp_path):
    encode_corpus(tok, iter(DOCUMENTS), tmp_path / "a.npy", append_token="<_EOS_>")
    end = tok.special_tokens["<_EOS_>"]
    assert read(tmp_path / "a.npy", "npy") == [[*tok.encode(text), end] for text in DOCUMENTS]
    with pytest.raises(SettingsError, match="no special token"):
        encode_corpus(tok, iter(DOCUMENTS), tmp_path / "b.npy", append_token="<x>")
    with pytest.raises(SettingsError, match="ending"):
        encode_corpus(tok, iter(DOCUMENTS), tmp_path / "b.xyz")


def test_a_stopped_run_goes_on(tok, tmp_path, monkeypatch):
    for number, text in enumerate(DOCUMENTS):
        (tmp_path / f"{number}.txt").write_text(text, "utf-8")
    corpus = prunedbpe.Corpus(sorted(tmp_path.glob("*.txt")))
    out = tmp_path / "out"
    original, calls = tok.encode_batch_to_numpy, []

    def counting(texts, **options):
        calls.append(texts)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(texts, **options)

    monkeypatch.setattr(tok, "encode_batch_to_numpy", counting)
    with pytest.raises(KeyboardInterrupt):
        encode_files(tok, corpus, out, "npy")
    assert len(list(out.glob("0000?.npy"))) == 2
    report = encode_files(tok, corpus, out, "npy")
    assert len(calls) == 6  # two before, the interrupted one, three after
    assert report.documents == 5
    for number, text in enumerate(DOCUMENTS):
        assert read(out / f"{number:05d}.npy", "npy") == [tok.encode(text)]
    encode_files(tok, corpus, out, "npy")
    assert len(calls) == 6
    (tmp_path / "0.txt").write_text("the cat sat again", "utf-8")
    encode_files(tok, prunedbpe.Corpus(sorted(tmp_path.glob("*.txt"))), out, "npy")
    assert len(calls) == 7


def test_columns(tok):
    pa = pytest.importorskip("pyarrow")
    texts = [*DOCUMENTS, "", "x"]
    expected = tok.encode_batch(texts)
    columns = [pa.array(texts), pa.chunked_array([texts[:3], texts[3:]]), np.array(texts), texts]
    for package in ("pandas", "polars"):
        try:
            module = __import__(package)
        except ImportError:
            continue
        columns.append(module.Series(texts))
    for column in columns:
        ids, offsets = encode_column(tok, column)
        assert [ids[b:e].tolist() for b, e in pairwise(offsets)] == expected
    assert encode_to_arrow(tok, pa.array(texts)).to_pylist() == expected
    with pytest.raises(SettingsError, match="row 1"):
        encode_column(tok, ["a", 3])
