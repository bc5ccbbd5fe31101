"""Counts on a real Spark cluster (two executors, local-cluster) equal those of one machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from random_texts import random_texts

import prunedbpe
from prunedbpe.errors import CorpusError, MissingExtraError, SettingsError

pyspark = pytest.importorskip("pyspark")
pytest.importorskip("pandas")
pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java on the PATH"),
    pytest.mark.filterwarnings("default"),  # Spark's own
]

from prunedbpe.counts.engines import spark as engine  # noqa: E402

BYTES_SETTING = "spark.sql.execution.arrow.maxBytesPerBatch"
ROWS_SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"
EXAMPLE = Path(__file__).parents[2] / "examples" / "count_on_spark.py"

# The names sort differently by Spark's addresses (" " is "%20") and by their bytes.
NAMES = ("b", "a b", "a!b", "a%b", "é", "sub/c")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.cloudpickle import register_pickle_by_value
    from pyspark.sql import SparkSession

    register_pickle_by_value(sys.modules[__name__])  # executors cannot import tests
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(Path(pyspark.__file__).parent))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.executor.memory", "512m")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.sql.files.maxPartitionBytes", "32k")
            .config("spark.sql.files.openCostInBytes", "1k")  # several files in a task
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def write_parquet(path: Path, texts: list[str | None]) -> None:
    table = pa.table({"number": range(len(texts)), "text": pa.array(texts, pa.string())})
    pq.write_table(table, path, row_group_size=300)


def write_json(path: Path, texts: list[str]) -> None:
    lines = [json.dumps({"number": i, "text": text}) for i, text in enumerate(texts)]
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture(scope="module", params=["parquet", "jsonl"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of different sizes, the largest of which Spark cuts into several blocks."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "sub").mkdir()
    for seed, name in enumerate(NAMES):
        texts: list[Any] = random_texts(200 + 700 * seed, seed)
        path = folder / f"{name}.{request.param}"
        if request.param == "parquet":
            texts[10:20] = [None] * 10
            write_parquet(path, texts)
        else:
            write_json(path, texts)
    return folder


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One Parquet file."""
    path = tmp_path_factory.mktemp("texts") / "texts.parquet"
    write_parquet(path, list(random_texts(2000)))
    return path


def read(spark: Any, folder: Path) -> Any:
    reader = spark.read.option("recursiveFileLookup", "true")
    if next(folder.glob("*.parquet"), None):
        return reader.parquet(str(folder))
    return reader.schema("number long, text string").json(str(folder))


def test_equals_a_local_count(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_BYTES_PER_REDUCE_TASK", 10_000)  # several tasks reduce
    local = prunedbpe.count(folder)
    frame = read(spark, folder)
    assert frame.rdd.getNumPartitions() > 4
    before = spark.conf.get(BYTES_SETTING)
    found = engine.count(frame)
    assert spark.conf.get(BYTES_SETTING) == before
    assert found == local
    assert found.corpus == local.corpus
    merges = [prunedbpe.learn(table, 200).pairs.tolist() for table in (found, local)]
    assert merges[0] == merges[1]

    local.save(tmp_path / "local.parquet")
    # A task that must pass on its table after every batch.
    written = engine.count_to_file(frame, tmp_path / "spark.parquet", memory=1)
    assert (written.chunks, written.digest) == (len(local), local.digest)
    assert (tmp_path / "spark.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()


def test_lines_of_text(spark: Any, tmp_path: Path) -> None:
    lines = [text.replace("\r", "").replace("\n", " ") for text in random_texts(3000)]
    (tmp_path / "a.txt").write_text("\n".join(lines), encoding="utf-8", newline="")
    frame = spark.read.option("lineSep", "\n").text(str(tmp_path))
    found = engine.count(frame, text_column="value")
    assert found == prunedbpe.count(tmp_path)
    assert found.corpus == prunedbpe.count(tmp_path).corpus


def test_options(spark: Any, texts: Path) -> None:
    frame = spark.read.parquet(str(texts))
    pretokenizer = prunedbpe.Pretokenizer("o200k", normalization="NFC")
    local = prunedbpe.count(texts, pretokenizer=pretokenizer)
    assert engine.count(frame, pretokenizer=pretokenizer) == local
    pattern = r"\w+|\s+"
    assert engine.count(frame, pretokenizer=pattern) == prunedbpe.count(texts, pretokenizer=pattern)
    often = engine.count(frame, min_chunk_count=3)
    assert often == prunedbpe.count(texts, min_chunk_count=3)
    assert often.min_chunk_count == 3


def test_rows_left_out_and_empty_frame(spark: Any, texts: Path) -> None:
    frame = spark.read.parquet(str(texts))
    kept = [text for i, text in enumerate(random_texts(2000)) if i % 3]
    found = engine.count(frame.filter("number % 3 <> 0"))
    assert found == prunedbpe.count(prunedbpe.Corpus.from_texts(kept))
    assert len(engine.count(frame.filter("number < 0"))) == 0


def test_not_utf8(spark: Any, tmp_path: Path) -> None:
    bad = pa.array([b"good", b"bad \xff", b"better"], pa.binary())
    # Arrow would not write such text, Spark's cast does not look.
    pq.write_table(pa.table({"raw": bad}), tmp_path / "a.parquet")
    frame = spark.read.parquet(str(tmp_path)).selectExpr("cast(raw as string) as text")
    found = engine.count(frame)
    assert [chunk for chunk, _ in found.items()] == [b"good", b"better"]
    assert found.corpus.documents == 2
    assert found.corpus.skipped[0].endswith("a.parquet, row 1: not UTF-8")


def test_order_column(spark: Any, texts: Path) -> None:
    frame = spark.read.parquet(str(texts)).repartition(5)
    local = prunedbpe.count(texts)
    assert engine.count(frame, order_column="number") == local
    in_memory = spark.createDataFrame([(2, "b a"), (1, "a c")], "number int, text string")
    found = engine.count(in_memory, order_column="number")
    assert found == prunedbpe.count(prunedbpe.Corpus.from_texts(["a c", "b a"]))


@pytest.mark.parametrize(
    "shuffle",
    [
        lambda frame: frame.repartition(5),
        lambda frame: frame.repartition(1),
        lambda frame: frame.orderBy("text"),
    ],
    ids=["repartitioned", "one partition", "sorted"],
)
def test_shuffled_rows_are_refused(spark: Any, texts: Path, shuffle: Callable[[Any], Any]) -> None:
    with pytest.raises(SettingsError, match=r"(?s)texts\.parquet.*order_column"):
        engine.count(shuffle(spark.read.parquet(str(texts)).orderBy("number", ascending=False)))


def test_repartitioned_lines_are_refused(spark: Any, tmp_path: Path) -> None:
    write_json(tmp_path / "a.jsonl", random_texts(500))
    frame = spark.read.schema("text string").json(str(tmp_path)).repartition(3)
    with pytest.raises(SettingsError, match=r"(?s)a\.jsonl.*order_column"):
        engine.count(frame)


def test_what_else_is_refused(spark: Any) -> None:
    frame = spark.createDataFrame([(1, "a"), (1, "b"), (2, "c")], "number int, text string")
    with pytest.raises(SettingsError, match=r"(?s)not read from files.*order_column"):
        engine.count(frame)
    with pytest.raises(SettingsError, match="the value 1 occurs more than once"):
        engine.count(frame, order_column="number")
    with pytest.raises(CorpusError, match="no column 'body'; its columns are: 'number', 'text'"):
        engine.count(frame, text_column="body")
    with pytest.raises(CorpusError, match="'number' holds integer, not text"):
        engine.count(frame, text_column="number")
    assert not spark.sparkContext._jsc.getPersistentRDDs()


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "find_spec", lambda package: None)
    frame: Any = None
    with pytest.raises(MissingExtraError, match=r"prunedbpe\[spark\]"):
        engine.count(frame)


@pytest.mark.parametrize("limits_bytes", [True, False])
def test_batches_are_cut_by_bytes(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits_bytes: bool
) -> None:
    """A hundred rows of 1 MB do not come at once, and the settings of the session come back."""
    rows = [f"{i} {'x' * 1_000_000}" for i in range(100)]
    write_parquet(tmp_path / "large.parquet", list(rows))
    if not limits_bytes:  # as before Spark 4.1
        monkeypatch.setattr(engine, "_BYTES_SETTING", "spark.sql.execution.arrow.noSuchSetting")
        monkeypatch.setattr(engine, "_FEW_ROWS", 8)
    before = [spark.conf.get(name) for name in (BYTES_SETTING, ROWS_SETTING)]

    def measure(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch([pa.array([batch.nbytes])], ["size"])

    frame = spark.read.parquet(str(tmp_path))
    with engine._small_batches(spark):
        sizes = [row.size for row in frame.mapInArrow(measure, "size long").collect()]
    assert sum(sizes) >= 100_000_000 and max(sizes) < 20_000_000
    assert engine.count(frame) == prunedbpe.count(tmp_path)
    assert [spark.conf.get(name) for name in (BYTES_SETTING, ROWS_SETTING)] == before


def executor_of_this_worker() -> int:
    """Return the process id of the executor, the parent of the daemon that forks workers."""
    from pathlib import Path

    daemon = os.getppid()
    return int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])


def kill_executor(process: int) -> None:
    command = Path(f"/proc/{process}/cmdline").read_bytes()
    assert b"CoarseGrainedExecutorBackend" in command
    os.kill(process, signal.SIGKILL)


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@needs_proc
def test_executor_dies_while_counting(spark: Any, texts: Path, tmp_path: Path) -> None:
    from pyspark.sql.functions import udf

    started, killed = tmp_path / "started", tmp_path / "killed"
    parent = executor_of_this_worker

    def wait_to_be_killed(text: str) -> str:
        """Write the number of the executor's process, and wait; later attempts go on."""
        if not killed.exists():
            partial = started.with_name(f"{os.getpid()}.tmp")
            partial.write_text(str(parent()))
            partial.rename(started)
            while not killed.exists():
                time.sleep(0.05)
            time.sleep(60)  # until the executor's death reaches this process
        return text

    def kill() -> None:
        while not started.exists():
            time.sleep(0.05)
        kill_executor(int(started.read_text()))
        killed.touch()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    frame = spark.read.parquet(str(texts))
    slow = frame.withColumn("text", udf(wait_to_be_killed)("text"))
    found = engine.count(slow)
    killer.join()
    assert found == prunedbpe.count(texts)


@needs_proc
def test_executor_dies_with_its_tables(
    spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables that were counted, and are lost before they are reduced, are counted again."""
    monkeypatch.setattr(engine, "_BYTES_PER_REDUCE_TASK", 10_000)
    parent = executor_of_this_worker
    executors = spark.sparkContext.range(100).map(lambda _: parent()).distinct().collect()
    plan = engine._plan

    def kill_and_plan(descriptions: list[Any]) -> Any:
        kill_executor(executors[0])
        return plan(descriptions)

    monkeypatch.setattr(engine, "_plan", kill_and_plan)
    assert engine.count(read(spark, folder)) == prunedbpe.count(folder)


def test_example(tmp_path: Path) -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 25
    done = subprocess.run(
        [sys.executable, EXAMPLE], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert "equal to a local count" in done.stdout
