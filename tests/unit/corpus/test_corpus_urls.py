"""Corpora at URLs: the same documents as from a local folder, whole and in shards."""

from __future__ import annotations

import bz2
import gzip
import http.server
import json
import lzma
import re
import socket
import sys
import threading
import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import prunedbpe
from prunedbpe.corpus import Corpus, Shard, open_corpus
from prunedbpe.encoded import encode_files
from prunedbpe.errors import CorpusError, MissingExtraError, SettingsError

fsspec = pytest.importorskip("fsspec")

TEXTS = [f"document {n} of {'some ' * (n % 7)}text, 中文" for n in range(200)]
LINES = "\n".join(TEXTS).encode()
JSON_LINES = "\n".join(json.dumps({"text": text, "lang": text[-2:]}) for text in TEXTS).encode()


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def parquet() -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": TEXTS}), sink, row_group_size=17)
    return sink.getvalue().to_pybytes()


FILES = {
    "a.txt": LINES,
    "b.jsonl": JSON_LINES,
    "c/d.parquet": parquet(),
    "c/e.txt.gz": gzip.compress(LINES),
    "c/f.jsonl.zst": zstd(JSON_LINES),
    "c/g.txt.xz": lzma.compress(LINES),
    "c/h.txt.bz2": bz2.compress(LINES),
    "i.md": LINES,
    "j.txt.gz": b"",
}


class RangeHandler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and parts of files, which the standard library's handler does not."""

    def send_head(self):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        path = Path(self.translate_path(self.path))
        if wanted is None or not path.is_file():
            return super().send_head()
        data = path.read_bytes()
        begin, end = int(wanted[1]), min(int(wanted[2]) + 1, len(data))
        self.send_response(206)
        self.send_header("Content-Length", str(end - begin))
        self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(data[begin:end])
        return None

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    for name, data in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def memory(local):
    root = f"memory://{uuid.uuid4().hex}"
    files = fsspec.filesystem("memory")
    files.put(f"{local}/", root, recursive=True)
    yield root
    files.rm(root, recursive=True)


@pytest.fixture(scope="module")
def web(local):
    pytest.importorskip("aiohttp", reason="aiohttp is not installed")

    def handler(*args):
        return RangeHandler(*args, directory=str(local))

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(params=["memory", "web", "file"])
def root(request, local):
    return f"file://{local}" if request.param == "file" else request.getfixturevalue(request.param)


def read(corpus: Corpus, threads: int = 1) -> list[str]:
    batches = corpus.batches(threads=threads)
    return [document.decode() for batch in batches for document in batch.documents()]


def test_every_kind_of_file(root, local):
    for name in FILES:
        expected = Corpus(local / name)
        corpus = Corpus(f"{root}/{name}", batch_bytes=1000)
        assert read(corpus) == read(corpus, threads=2) == read(expected)
        assert corpus.size == expected.size and corpus.report == expected.report
        assert corpus.fingerprint() == [{"path": f"{root}/{name}", "bytes": len(FILES[name])}]


def test_folders_and_globs(root, local):
    folder = f"{root}/"
    assert Corpus(folder).sources == [f"{root}/{name}" for name in FILES]
    assert prunedbpe.count(folder) == prunedbpe.count(local)
    assert Corpus(f"{root}/c/*.txt.*").sources == [f"{root}/c/{n}" for n in (
        "e.txt.gz", "g.txt.xz", "h.txt.bz2",
    )]  # fmt: skip
    mixed = open_corpus([f"{root}/*.txt", f"{local}/b.jsonl"])
    assert mixed.sources == [f"{root}/a.txt", f"{local}/b.jsonl"]


@pytest.mark.parametrize("count", [2, 7])
def test_shards(root, local, count):
    shards = [
        Corpus(f"{root}/", shard=Shard(index, count), batch_bytes=500) for index in range(count)
    ]
    assert [text for shard in shards for text in read(shard)] == read(Corpus(local))
    assert sum(len(shard.sources) for shard in shards) > len(FILES)
    counted = [prunedbpe.count(shard) for shard in shards]
    assert prunedbpe.reduce_counts(counted) == prunedbpe.count(local)


def test_sources_are_named_by_their_url(memory):
    corpus = Corpus(f"{memory}/b.jsonl", source_field="lang")
    assert prunedbpe.count_by_source(corpus).names == ("中文",)
    names = prunedbpe.count_by_source(Corpus(memory), sources="folders").names
    assert names == (memory, f"{memory}/c")


def test_encoding_file_by_file(memory, tmp_path):
    tok = prunedbpe.train(iter(TEXTS), vocab_size=300, threshold=0)
    corpus = Corpus([f"{memory}/a.txt", f"{memory}/c/d.parquet"])
    first = encode_files(tok, corpus, tmp_path, "npy")
    assert first.documents == 2 * len(TEXTS)
    written = (tmp_path / "00001.npy").stat().st_mtime_ns
    assert encode_files(tok, corpus, tmp_path, "npy") == first
    assert (tmp_path / "00001.npy").stat().st_mtime_ns == written


@pytest.mark.parametrize("name", ["none.txt", "none/", "none/*.txt", "c/x*.txt"])
def test_missing(root, name):
    with pytest.raises(CorpusError) as raised:
        Corpus(f"{root}/{name}")
    assert f"{root}/{name}: " in raised.value.message


def test_a_list_of_missing_urls_is_not_text(memory):
    with pytest.raises(CorpusError, match="no such file"):
        prunedbpe.count([f"{memory}/none.txt"])
    assert read(open_corpus(["see https://a.org/b.txt", "a text"]))[1] == "a text"


def test_a_file_that_vanishes(memory):
    url = f"{memory}/gone"
    for name in ("x.txt", "x.parquet"):
        with fsspec.open(f"{url}/{name}", "wb") as file:
            file.write(b"x")
        corpus = Corpus(f"{url}/{name}")
        fsspec.filesystem("memory").rm(f"{url}/{name}")
        with pytest.raises(CorpusError, match=f"{url}/{name}: cannot be read"):
            read(corpus)


def test_damaged_file(memory):
    with fsspec.open(f"{memory}-bad/x.txt.gz", "wb") as file:
        file.write(gzip.compress(LINES)[:-20])
    with pytest.raises(CorpusError, match=r"x\.txt\.gz: damaged"):
        read(Corpus(f"{memory}-bad/x.txt.gz"))


def test_what_cannot_be_opened(monkeypatch):
    with pytest.raises(SettingsError, match="nonsense://a/b"):
        Corpus("nonsense://a/b")
    with pytest.raises(CorpusError, match="no such file") as raised:
        Corpus(Path("s3://bucket/a.txt"))
    assert "string" in raised.value.hint
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'prunedbpe\[remote\]'"):
        prunedbpe.count("memory://a.txt")


def test_no_server(web):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/a.txt"
        with pytest.raises(CorpusError, match=re.escape(url)):
            Corpus(url)


def test_query_of_a_web_address(web):
    assert read(Corpus(f"{web}/a.txt?download=1")) == TEXTS
