"""Counts and token files made on a Ray cluster equal those of one process, whatever is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import prunedbpe
from prunedbpe._support.ray_tasks import ray_cluster
from prunedbpe.corpus import Shard
from prunedbpe.counts import ChunkCounts
from prunedbpe.counts.engines import part_folder
from prunedbpe.counts.engines import ray as ray_engine
from prunedbpe.counts.partial_tables import PartialTable
from prunedbpe.encoded import encode_files
from prunedbpe.encoded.ray_encoding import encode_files_on_ray
from prunedbpe.errors import (
    CorpusError,
    FormatError,
    MissingExtraError,
    RunMismatchError,
    SettingsError,
)

ray = pytest.importorskip("ray", reason="needs ray: make test-engines")

# Ray warns about its own future, and leaves sockets and processes to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore")

PARTS = 7
STORE_BYTES = 80_000_000


@pytest.fixture(scope="module")
def cluster():
    """Three nodes with one CPU each; this process is connected to them."""
    from ray.cluster_utils import Cluster

    if ray.is_initialized():
        ray.shutdown()
    nodes = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "object_store_memory": STORE_BYTES},
    )
    for _ in range(2):
        nodes.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    ray.init(address=nodes.address, log_to_driver=False)
    nodes.wait_for_nodes()
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture(scope="module")
def texts(tmp_path_factory) -> Path:
    """A corpus of lines, JSON lines, a whole file, and a line that is not UTF-8."""
    folder = tmp_path_factory.mktemp("texts")
    random = np.random.default_rng(1)
    words = [f"w{n:x}" * int(random.integers(1, 3)) for n in range(4000)] + [
        "naïve",
        "中文",
        "e\u0301",
    ]
    picks = random.zipf(1.3, 200_000) % len(words)
    lines = [" ".join(words[i] for i in row) for row in picks.reshape(-1, 20).tolist()]
    (folder / "a.txt").write_text("\n".join(lines[:6000]), encoding="utf-8")
    with (folder / "a.txt").open("ab") as file:
        file.write(b"\nbroken \xff line\n")
    (folder / "b.jsonl").write_text(
        "\n".join(f'{{"text": "{line}"}}' for line in lines[6000:9000]), encoding="utf-8"
    )
    (folder / "c.md").write_text("\n".join(lines[9000:]), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def expected(texts, tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("expected") / "counts.parquet"
    prunedbpe.count(prunedbpe.Corpus(texts)).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("parts", [1, PARTS])
def test_same_bytes_as_one_process(cluster, texts, expected, tmp_path, parts):
    path = tmp_path / "counts.parquet"
    found = ray_engine.count_to_file(texts, path, parts=parts)
    assert path.read_bytes() == expected
    assert (found.digest, found.chunks) == (
        ChunkCounts.load(path).digest,
        len(ChunkCounts.load(path)),
    )
    assert found.corpus.skipped_documents == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["counts.parquet"]


def test_a_tree_of_joins(cluster, texts, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(part_folder, "MOST_JOINED", 2)
    monkeypatch.setattr(ray_engine, "MOST_JOINED", 2)
    path = tmp_path / "counts.parquet"
    ray_engine.count_to_file(texts, path, parts=PARTS, folder=tmp_path / "parts")
    assert path.read_bytes() == expected
    assert len(list((tmp_path / "parts").glob("joined-1-*.arrow"))) == 2


def test_more_text_than_the_memory_of_a_task(texts, tmp_path, monkeypatch):
    """A part that was spilled is the same partial table."""
    corpus = prunedbpe.Corpus(texts, batch_bytes=50_000)
    job = ray_engine._open_job(tmp_path, "paper", 1, None)
    shard = Shard(0, 2)
    job.count_part(corpus, shard)
    part = Path(job.part_path(shard))
    whole = part.read_bytes()
    part.unlink()
    monkeypatch.setattr("prunedbpe.counts.bounded._TABLE_SHARE", 0.0)
    job.count_part(corpus, shard)
    assert part.read_bytes() == whole


class KilledOnce:
    """Counts a part, in a worker that kills itself at the first attempt of part 2."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __call__(self, job, corpus, shard):
        if shard.index == 2 and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        part_folder.PartFolder.count_part(job, corpus, shard)


def as_task(action):
    def run(*arguments):
        return action(*arguments)

    return run


@pytest.fixture
def by_value():
    """Nodes cannot import this module: send its functions themselves."""
    cloudpickle = ray.cloudpickle
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def replace_task(monkeypatch, name, action):
    """Run another function in place of a method of the folder, in tasks only."""
    run = ray_engine.RayCluster.run
    original = getattr(part_folder.PartFolder, name)

    def run_other(self, function, calls, **options):
        chosen = as_task(action) if function is original else function
        return run(self, chosen, calls, **options)

    monkeypatch.setattr(ray_engine.RayCluster, "run", run_other)


def test_a_killed_worker(cluster, texts, expected, tmp_path, monkeypatch, by_value):
    marker = tmp_path / "killed"
    replace_task(monkeypatch, "count_part", KilledOnce(marker))
    path = tmp_path / "counts.parquet"
    ray_engine.count_to_file(texts, path, parts=PARTS)
    assert marker.exists()
    assert path.read_bytes() == expected


class Waiting:
    """Counts a part, but on one node waits for its end, and elsewhere until a task is there."""

    def __init__(self, node_id: str, marker: Path) -> None:
        self.node_id = node_id
        self.marker = marker

    def __call__(self, job, corpus, shard):
        if ray.get_runtime_context().get_node_id() == self.node_id:
            self.marker.touch()
            time.sleep(3600)
        limit = time.monotonic() + 200
        while not self.marker.exists() and time.monotonic() < limit:
            time.sleep(0.05)
        part_folder.PartFolder.count_part(job, corpus, shard)


def test_a_lost_node(cluster, texts, expected, tmp_path, monkeypatch, by_value):
    node = cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    cluster.wait_for_nodes()
    marker = tmp_path / "reached"
    replace_task(monkeypatch, "count_part", Waiting(node.node_id, marker))

    removed = threading.Event()

    def remove_node():
        while not marker.exists():
            time.sleep(0.05)
        cluster.remove_node(node)
        removed.set()

    threading.Thread(target=remove_node, daemon=True).start()
    path = tmp_path / "counts.parquet"
    ray_engine.count_to_file(texts, path, parts=3 * PARTS)
    assert removed.wait(60)  # a task was on it, and could end only elsewhere
    assert path.read_bytes() == expected


def test_finished_parts_are_skipped(cluster, texts, expected, tmp_path):
    path, folder = tmp_path / "counts.parquet", tmp_path / "parts"
    ray_engine.count_to_file(texts, path, parts=PARTS, folder=folder)
    parts = sorted(folder.glob("part-*.arrow"))
    assert len(parts) == PARTS
    parts[3].unlink()
    before = {part: part.stat().st_mtime_ns for part in parts if part.exists()}
    for bucket in folder.glob("bucket-*"):
        bucket.unlink()
    path.unlink()
    # Not told how many parts: the folder knows.
    ray_engine.count_to_file(texts, path, folder=folder)
    assert path.read_bytes() == expected
    assert {part: part.stat().st_mtime_ns for part in before} == before
    assert sorted(folder.glob("part-*.arrow")) == parts


def test_a_damaged_part_is_named(cluster, texts, tmp_path):
    path, folder = tmp_path / "counts.parquet", tmp_path / "parts"
    ray_engine.count_to_file(texts, path, parts=PARTS, folder=folder)
    part = folder / "part-00003-of-00007.arrow"
    content = bytearray(part.read_bytes())
    table = PartialTable(part)
    chunks = table.bucket(200)[0][0].tobytes()
    table.close()
    content[content.index(chunks)] ^= 1
    part.write_bytes(content)
    for bucket in folder.glob("bucket-*"):
        bucket.unlink()
    with pytest.raises(
        FormatError, match=r"part-00003-of-00007\.arrow.*\n?.*hint: remove"
    ) as caught:
        ray_engine.count_to_file(texts, path, folder=folder)
    assert type(caught.value) is FormatError
    part.write_bytes(content[: len(content) // 2])  # cut short: counted again
    ray_engine.count_to_file(texts, path, folder=folder)


def test_a_folder_of_another_count(cluster, texts, tmp_path):
    path, folder = tmp_path / "counts.parquet", tmp_path / "parts"
    ray_engine.count_to_file(texts / "a.txt", path, parts=2, folder=folder)
    with pytest.raises(RunMismatchError, match="another count"):
        ray_engine.count_to_file(texts, path, folder=folder)
    with pytest.raises(RunMismatchError, match="another count"):
        ray_engine.count_to_file(texts / "a.txt", path, pretokenizer="gpt2", folder=folder)
    with pytest.raises(RunMismatchError, match="in 2 parts, not 3"):
        ray_engine.count_to_file(texts / "a.txt", path, parts=3, folder=folder)


def test_errors_keep_their_type(cluster, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\nnot json\n')
    with pytest.raises(CorpusError, match=r"a\.jsonl") as caught:
        ray_engine.count_to_file(tmp_path / "a.jsonl", tmp_path / "counts.parquet")
    assert type(caught.value) is CorpusError


def test_a_worker_that_sees_other_files(cluster, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n")
    corpus = prunedbpe.Corpus(path)
    path.write_text("one\ntwo\nthree\n")
    with pytest.raises(CorpusError, match=r"a\.txt: has 14 bytes on the worker .* has 8 bytes"):
        ray_engine.count_to_file(corpus, tmp_path / "counts.parquet")
    path.unlink()
    with pytest.raises(CorpusError, match=r"a\.txt: is missing on the worker"):
        ray_engine.count_to_file(corpus, tmp_path / "counts.parquet", folder=tmp_path / "x")


def test_relative_paths(cluster, texts, expected, tmp_path, monkeypatch):
    """Workers have working folders of their own; reports name files as they were given."""
    monkeypatch.chdir(texts)
    prunedbpe.count(prunedbpe.Corpus("a.txt")).save(tmp_path / "local.parquet")
    ray_engine.count_to_file("a.txt", tmp_path / "counts.parquet", parts=3)
    assert (tmp_path / "counts.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()


@pytest.mark.parametrize("corpus", [iter(["a"]), "shard"])
def test_what_cannot_be_divided(texts, tmp_path, corpus):
    if corpus == "shard":
        corpus = prunedbpe.Corpus(texts, shard=Shard(0, 2))
    with pytest.raises(SettingsError, match="only a whole corpus of files"):
        ray_engine.count_to_file(corpus, tmp_path / "counts.parquet")


def test_count_with_an_engine(cluster, texts):
    assert prunedbpe.count(texts, engine="ray") == prunedbpe.count(prunedbpe.Corpus(texts))
    with pytest.raises(SettingsError, match="engine 'dask'"):
        prunedbpe.count(texts, engine="dask")


def test_rare_chunks_are_dropped(cluster, texts, tmp_path):
    found = prunedbpe.count(texts, engine="ray", min_chunk_count=3)
    assert found == prunedbpe.count(texts, min_chunk_count=3)
    assert found.min_chunk_count == 3


def test_parts_at_a_url(cluster, texts, expected, tmp_path):
    """A file system of fsspec; an object store works the same way."""
    pytest.importorskip("fsspec")
    path, folder = tmp_path / "counts.parquet", tmp_path / "parts"
    ray_engine.count_to_file(f"file://{texts}", path, parts=PARTS, folder=f"file://{folder}")
    # The report names the places of skipped lines by URL.
    assert ChunkCounts.load(path) == prunedbpe.count(prunedbpe.Corpus(texts))
    before = {part: part.stat().st_mtime_ns for part in folder.iterdir()}
    assert len(before) == 1 + PARTS + 256
    ray_engine.count_to_file(f"file://{texts}", path, folder=f"file://{folder}")
    assert {part: part.stat().st_mtime_ns for part in folder.iterdir()} == before


def test_dataset(cluster, texts, tmp_path):
    lines = (texts / "c.md").read_text(encoding="utf-8").splitlines()
    lines[10:12] = ["", None]
    dataset = ray.data.from_items([{"id": i, "body": text} for i, text in enumerate(lines)])
    dataset = dataset.repartition(5)
    path = tmp_path / "counts.parquet"
    found = ray_engine.count_dataset(dataset, path, text_field="body")
    assert ChunkCounts.load(path) == prunedbpe.count(iter(line for line in lines if line))
    assert found.corpus.documents == len(lines) - 2
    assert list(tmp_path.iterdir()) == [path]
    assert prunedbpe.count(dataset.rename_columns({"body": "text"}), engine="ray") == (
        ChunkCounts.load(path)
    )
    ray_engine.count_dataset(dataset.limit(301), path, text_field="body")
    assert ChunkCounts.load(path) == prunedbpe.count(iter(line for line in lines[:301] if line))
    for column, message in (("text", "no column 'text'"), ("id", "holds int64, not text")):
        with pytest.raises(CorpusError, match=message):
            ray_engine.count_dataset(dataset, path, text_field=column)


def test_encode(cluster, texts, tmp_path):
    tokenizer = prunedbpe.train(texts, vocab_size=500, threshold=0)
    corpus = prunedbpe.Corpus(texts)
    local, remote = tmp_path / "local", tmp_path / "remote"
    report = encode_files(tokenizer, corpus, local, "npy")
    assert encode_files_on_ray(tokenizer, corpus, remote, "npy") == report
    found = {path.name: path.read_bytes() for path in remote.iterdir()}
    assert found == {path.name: path.read_bytes() for path in local.iterdir()}
    # What is done is kept; what is damaged is encoded again.
    (remote / "00001.npy").write_bytes(b"damaged")
    before = (remote / "00000.npy").stat().st_mtime_ns
    assert encode_files_on_ray(tokenizer, corpus, remote, "npy") == report
    assert (remote / "00000.npy").stat().st_mtime_ns == before
    assert {path.name: path.read_bytes() for path in remote.iterdir()} == found


def test_commands(cluster, texts, expected, tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "prunedbpe", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)

    counts = tmp_path / "counts.parquet"
    engine = ("--engine", "ray", "--address", cluster.address)
    done = run("count", texts, *engine, "--parts-dir", tmp_path / "parts", "-o", counts)
    assert done.returncode == 0, done.stderr
    assert counts.read_bytes() == expected
    assert list((tmp_path / "parts").glob("part-*"))
    tokenizer = tmp_path / "tok"
    prunedbpe.train(texts, vocab_size=300, threshold=0).save(tokenizer)
    done = run("encode", tokenizer, texts, *engine, "--format", "bin", "-o", tmp_path / "ids")
    assert done.returncode == 0, done.stderr
    encode_files(
        prunedbpe.Tokenizer.load(tokenizer), prunedbpe.Corpus(texts), tmp_path / "local", "bin"
    )
    for path in (tmp_path / "local").iterdir():
        assert (tmp_path / "ids" / path.name).read_bytes() == path.read_bytes()


def test_without_ray(monkeypatch, texts, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'prunedbpe\[ray\]'"):
        ray_engine.count_to_file(texts, tmp_path / "counts.parquet")


def test_missing_extras_travel(cluster):
    def fail():
        raise MissingExtraError("regex", "regex", "a pattern")

    with (
        ray_cluster(None, "a test") as connected,
        pytest.raises(MissingExtraError, match="'regex'"),
    ):
        list(connected.run(fail, [()]))
