"""Spark: a data frame with a column of text -> its chunk counts, as a count on one machine.

1. Executors count the rows of their partitions with the native counter (:mod:`.spark_tasks`).
2. The driver collects which parts of the corpus each table holds, and how many bytes of text. From
   that it knows how far the positions of each table move.
3. Executors join the tables bucket by bucket.
4. The driver fetches the buckets and merges them in order of first position.

The tables of both steps stay on the disks of the executors. Spark computes those of a lost executor
again, and gets the same bytes.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from prunedbpe._support.sizes import parse_size
from prunedbpe.corpus.documents import CorpusReport, counted
from prunedbpe.counts.bucket_merge import (
    merge_by_position,
    read_slices,
    write_counts,
    write_slices,
)
from prunedbpe.counts.chunk_counts import ChunkCounts, check_min_chunk_count
from prunedbpe.counts.counting import CountedFile
from prunedbpe.counts.coverage import Coverage
from prunedbpe.counts.engines.spark_tasks import (
    BATCH_BYTES,
    DESCRIPTION,
    OUTPUT_IN_SPARK,
    Part,
    count_rows,
    from_bytes,
    out_of_order,
    reduce_buckets,
)
from prunedbpe.counts.partial_tables import BUCKETS
from prunedbpe.errors import CorpusError, MissingExtraError, SettingsError
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer
from prunedbpe.types import Int64Array, Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TASK_MEMORY = 256_000_000
"""Bytes of a table that a task holds. Spark leaves at least 384 MB to Python on an executor."""

_BYTES_PER_REDUCE_TASK = 16 << 20
"""Bytes of text for each task that reduces; Spark would start 200 for the smallest corpus."""

_NAME_ORDER = "name a column that holds the place of each row with order_column"

_BYTES_SETTING = "spark.sql.execution.arrow.maxBytesPerBatch"
_ROWS_SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"

_FEW_ROWS = 128
"""Rows of an Arrow batch where Spark, before version 4.1, cannot limit its bytes."""

_logger = logging.getLogger("prunedbpe")


def count(
    dataframe: DataFrame,
    *,
    text_column: str = "text",
    order_column: str | None = None,
    pretokenizer: str | Pretokenizer = "paper",
    min_chunk_count: int = 1,
    memory: str | int = TASK_MEMORY,
) -> ChunkCounts:
    """Count the unique chunks of a column of a Spark data frame.

    Args:
        dataframe: Its rows are documents; null and empty rows hold none. ``prunedbpe`` must be
            installed on the executors.
        text_column: The column that holds the text.
        order_column: A column by which the corpus is ordered, each of its values once. By default
            a frame that was read from files has the order of the files, sorted by the bytes of
            their paths, and of the rows in them, as on one machine. Selecting columns or rows
            keeps that order; sorting, joining and repartitioning do not.
        pretokenizer: A built-in name, a regular expression, or a pretokenizer.
        min_chunk_count: An approximation: drop chunks that occur fewer times; 1 is exact.
        memory: How much memory the tables of a task may take, such as ``1GB``. Larger tables are
            passed on in pieces.

    Returns:
        The table; empty if the frame holds no text.

    Raises:
        CorpusError: The frame has no such column, or it does not hold text.
        SettingsError: The order of the rows is unknown.
        MissingExtraError: Spark is not installed.
    """
    cut_by = find_pretokenizer(pretokenizer)
    columns = _Columns(text_column, order_column)
    budget = parse_size(memory, "memory")
    with _reduced(dataframe, columns, cut_by, min_chunk_count, budget) as (blocks, about):
        return ChunkCounts.from_blocks(blocks, **about)


def count_to_file(
    dataframe: DataFrame,
    path: str | Path,
    *,
    text_column: str = "text",
    order_column: str | None = None,
    pretokenizer: str | Pretokenizer = "paper",
    min_chunk_count: int = 1,
    memory: str | int = TASK_MEMORY,
) -> CountedFile:
    """Count a column of a Spark data frame into a file on the driver.

    The driver holds one of 256 parts of the table at a time, on its disk all of it.

    Args:
        dataframe: As for :func:`count`.
        path: The Parquet file to write, the same as that of :meth:`ChunkCounts.save`.
        text_column: As for :func:`count`.
        order_column: As for :func:`count`.
        pretokenizer: As for :func:`count`.
        min_chunk_count: As for :func:`count`.
        memory: As for :func:`count`.

    Raises:
        CorpusError: As for :func:`count`.
        SettingsError: As for :func:`count`.
        MissingExtraError: Spark is not installed.
    """
    cut_by = find_pretokenizer(pretokenizer)
    columns = _Columns(text_column, order_column)
    budget = parse_size(memory, "memory")
    with _reduced(dataframe, columns, cut_by, min_chunk_count, budget) as (blocks, about):
        header = ChunkCounts.empty(**about)
        written = write_counts(Path(path), blocks, header.settings())
    return CountedFile(written.rows, written.hexdigest(), header, budget, spilled=True)


@contextmanager
def _reduced(
    dataframe: DataFrame,
    columns: _Columns,
    pretokenizer: Pretokenizer,
    min_chunk_count: int,
    memory: int,
) -> Iterator[tuple[Iterator[pa.RecordBatch], dict[str, Any]]]:
    """Run all steps; give the rows in order of first position, block by block.

    The second value are the fields of :class:`ChunkCounts` beside its columns.
    """
    check_min_chunk_count(min_chunk_count, None)
    for package in ("pyspark", "pandas"):  # Spark wants pandas wherever Arrow is used
        if find_spec(package) is None:
            raise MissingExtraError(package, "spark", "counting on Spark")
    from pyspark import StorageLevel

    rows = columns.select(dataframe)
    with tempfile.TemporaryDirectory(prefix="prunedbpe-") as folder:
        with (
            _small_batches(dataframe.sparkSession),
            _kept(
                rows.mapInArrow(_CountTask(pretokenizer.describe(), memory), OUTPUT_IN_SPARK),
                StorageLevel.DISK_ONLY,
            ) as tables,
        ):
            moves, report = _plan(tables.filter(f"bucket = {DESCRIPTION}").collect())
            # Equal buckets come to the same partition, whatever their number.
            partitions = min(BUCKETS, 1 + report.bytes // _BYTES_PER_REDUCE_TASK)
            by_bucket = tables.filter(f"bucket <> {DESCRIPTION}").repartitionByRange(
                partitions, "bucket"
            )
            task = _ReduceTask(moves, min_chunk_count)
            with _kept(
                by_bucket.sortWithinPartitions("bucket").mapInArrow(task, OUTPUT_IN_SPARK),
                StorageLevel.DISK_ONLY,
            ) as reduced:
                # All partitions at once; fetching would compute them one after the other.
                reduced.count()
                paths = _fetch(reduced, Path(folder))
        about = {
            "pretokenizer": pretokenizer,
            "corpus": report,
            "min_chunk_count": min_chunk_count,
        }
        yield merge_by_position([read_slices(path) for path in paths]), about


# 1. Counting.


@dataclass(frozen=True)
class _Columns:
    """The columns that are read."""

    text: str
    order: str | None

    def select(self, dataframe: DataFrame) -> DataFrame:
        """Return the columns that :func:`~.spark_tasks.count_rows` takes."""
        self._check(dataframe)
        text = _column(self.text).alias("text")
        if self.order is not None:
            order = _column(self.order)
            return dataframe.select(text, order.alias("order")).orderBy("order")
        fields = {"file": "file_path", "block": "file_block_start", "row": "row_index"}
        known = _metadata_fields(dataframe)
        if not {"file_path", "file_block_start"} <= known:
            raise SettingsError(
                "the order of the rows is unknown: the data frame was not read from files",
                hint=f"{_NAME_ORDER}, or give the frame that spark.read returned",
            )
        places = [
            _column("_metadata").getField(field).alias(name)
            for name, field in fields.items()
            if field in known
        ]
        return dataframe.select(text, *places)

    def _check(self, dataframe: DataFrame) -> None:
        types = {field.name: field.dataType.typeName() for field in dataframe.schema.fields}
        shown = ", ".join(map(repr, types)) or "none"
        for option, name in (("text_column", self.text), ("order_column", self.order)):
            if name is not None and name not in types:
                raise CorpusError(
                    f"the data frame has no column {name!r}; its columns are: {shown}",
                    hint=f"name the column with {option}",
                )
        if types[self.text] not in ("string", "varchar", "char"):
            raise CorpusError(
                f"column {self.text!r} holds {types[self.text]}, not text",
                hint="name the column that holds the text with text_column",
            )


def _column(name: str) -> Any:
    from pyspark.sql import functions

    quoted = name.replace("`", "``")
    return functions.col(f"`{quoted}`")


def _metadata_fields(dataframe: DataFrame) -> set[str]:
    """Return what Spark knows of the files behind a frame."""
    from pyspark.errors import AnalysisException

    try:
        metadata: Any = dataframe.select("_metadata").schema.fields[0].dataType
    except AnalysisException:
        return set()
    return set(getattr(metadata, "names", ()))


@dataclass(frozen=True)
class _CountTask:
    """Counts a partition; it travels to the executors."""

    pretokenizer: Settings
    memory: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        return count_rows(batches, self.pretokenizer, self.memory, context.partitionId())


@contextmanager
def _small_batches(session: Any) -> Iterator[None]:
    """Limit the Arrow batches that Spark gives to Python."""
    try:
        session.conf.get(_BYTES_SETTING)
        setting, limit = _BYTES_SETTING, BATCH_BYTES
    except Exception:  # what Spark raises for an unknown setting depends on its version
        setting, limit = _ROWS_SETTING, _FEW_ROWS
    before = session.conf.get(setting)
    session.conf.set(setting, str(limit))
    try:
        yield
    finally:
        session.conf.set(setting, before)


@contextmanager
def _kept(dataframe: DataFrame, level: Any) -> Iterator[DataFrame]:
    """Keep what the executors compute on their disks, until it has been used."""
    kept = dataframe.persist(level)
    try:
        yield kept
    finally:
        with suppress(Exception):  # the session may have died; its own error says so
            kept.unpersist()


# 2. Which parts of the corpus the tables hold.


def _plan(
    descriptions: list[Any],
) -> tuple[dict[int, tuple[Int64Array, Int64Array]], CorpusReport]:
    """Put the parts of all tables in order; return how far each table moves, and what was read."""
    tables: dict[int, list[Part]] = {}
    for row in descriptions:
        found = json.loads(bytes(row.content))
        if "fault" in found:
            raise SettingsError(found["fault"], hint=_NAME_ORDER)
        tables[row.table] = [Part.from_settings(settings) for settings in found["parts"]]
    parts = sorted((part for held in tables.values() for part in held), key=_place)
    for before, part in pairwise(parts):
        if before.place == part.place:
            raise SettingsError(out_of_order(part), hint=_NAME_ORDER)
    numbers = {part.place: number for number, part in enumerate(parts)}
    whole = Coverage(len(parts), tuple(range(len(parts))), tuple(part.size for part in parts))
    moves = {}
    for table, held in tables.items():
        indices = tuple(numbers[part.place] for part in held)
        sizes = tuple(part.size for part in held)
        moves[table] = Coverage(len(parts), indices, sizes).moves(whole)
    report = sum((part.report for part in parts), CorpusReport())
    files = Counter(part.file for part in parts if part.file)
    if report.skipped_documents:
        documents = counted(report.skipped_documents, "document")
        _logger.warning("%s; %s skipped in all", report.skipped[0], documents)
    return moves, replace(report, files=len(files))


def _place(part: Part) -> Any:
    return part.place


# 3. Reducing.


@dataclass(frozen=True, eq=False)
class _ReduceTask:
    """Joins the tables of some buckets; it travels to the executors."""

    moves: dict[int, tuple[Int64Array, Int64Array]]
    min_count: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return reduce_buckets(batches, self.moves, self.min_count)


# 4. Fetching.


def _fetch(reduced: DataFrame, folder: Path) -> list[Path]:
    """Write each reduced bucket to a file."""
    paths = []
    rows = reduced.toLocalIterator()
    for bucket, pieces in groupby(rows, key=lambda row: row.bucket):
        batches = [from_bytes(pa.py_buffer(piece.content)) for piece in pieces]
        (joined,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
        paths.append(folder / f"bucket-{bucket:03d}.arrow")
        write_slices(paths[-1], joined)
    return paths
