"""What Spark's executors do: rows of text -> tables of hash buckets -> reduced buckets.

Both functions take and return Arrow record batches, as ``DataFrame.mapInArrow`` wants them. They
run where ``prunedbpe`` is installed, and import nothing of Spark.

A *part* is a run of rows that follow each other in the corpus: the rows of one block of a file, or
of one partition of a sorted data frame. A task may count several parts, in an order that is not
that of the corpus. It joins them in corpus order to one table, so that its output does not grow
with the number of small files. How far each part moves is known when all have been counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from urllib.parse import unquote_to_bytes

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prunedbpe import _core
from prunedbpe.corpus.documents import CorpusReport, DocumentBatch, ReadOptions, report_skipped
from prunedbpe.corpus.parquet_files import documents_of
from prunedbpe.counts.bounded import add_batch
from prunedbpe.counts.bucket_merge import at_least
from prunedbpe.counts.coverage import move_positions
from prunedbpe.counts.partial_tables import BUCKETS, Columns, from_batch, to_batch
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.types import Int64Array, Settings

_FIELDS: Any = {"table": pa.int64(), "bucket": pa.int32(), "content": pa.binary()}

OUTPUT = pa.schema(_FIELDS)
"""Rows of a bucket of a table, as an Arrow IPC stream; or, as JSON, what the table holds."""

OUTPUT_IN_SPARK = "table long, bucket int, content binary"

DESCRIPTION = -1
"""The bucket of the row that describes a table."""

BATCH_BYTES = ReadOptions.batch_bytes
"""Text that is counted at a time."""

PIECE_ROWS = 1 << 16
"""A reduced bucket goes to the driver in pieces of this many rows."""

_MOST_TABLES = 1 << 32
"""A task writes fewer tables."""


@dataclass(frozen=True)
class Part:
    """A run of rows that follow each other in the corpus.

    Attributes:
        file: The address of the file, as Spark gives it; empty if a column decides the order.
        block: Where in the file its block begins; or the number of the partition.
        piece: A part that is too large for the memory of a task is divided; counts from 0.
        size: Bytes of text, after normalization.
        report: What was read.
    """

    file: str
    block: int
    piece: int = 0
    size: int = 0
    report: CorpusReport = CorpusReport()  # noqa: RUF009 (immutable)

    @property
    def place(self) -> tuple[bytes, str, int, int]:
        """Sorts as the files of a folder do: by the bytes of the path, then by offset.

        >>> Part("file:/a%20b.txt", 0).place[0]
        b'file:/a b.txt'
        """
        return unquote_to_bytes(self.file), self.file, self.block, self.piece

    def as_settings(self) -> Settings:
        """Return it as a JSON object."""
        return {**vars(self), "report": self.report.as_settings()}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Part:
        """Read what :meth:`as_settings` returned."""
        return cls(**{**settings, "report": CorpusReport.from_settings(settings["report"])})


# 1. Counting.


def count_rows(
    batches: Iterator[pa.RecordBatch], pretokenizer: Settings, memory: int, partition: int
) -> Iterator[pa.RecordBatch]:
    """Count the rows of one partition of a data frame.

    Args:
        batches: The column ``text``, and either ``order``, by which the rows are sorted, or
            ``file`` and ``block``, with ``row`` where the format numbers its rows.
        pretokenizer: As :meth:`~prunedbpe.pretokenizers.Pretokenizer.describe` returns it.
        memory: A table is passed on when it holds this many bytes.
        partition: The number of the partition.

    Yields:
        For each table a row for each bucket that is not empty, and one that describes the table. A
        fault in the order of rows is described too, and ends the task: an exception here would
        reach the user as a long trace of another process.
    """
    counter = _TaskCounter(Pretokenizer.from_settings(pretokenizer), partition)
    order = _RowOrder(partition)
    for batch in batches:
        for rows in _same_part(batch):
            part, numbers, fault = order.next(rows)
            if fault:
                yield _output(counter.table, DESCRIPTION, json.dumps({"fault": fault}).encode())
                return
            counter.begin(part)
            for documents, report in _documents(rows, part, numbers):
                counter.add(documents, report)
                if counter.memory > memory:
                    yield from counter.take_out()
    yield from counter.take_out()


class _RowOrder:
    """Tells to which part rows belong, and refuses rows that are not in corpus order."""

    def __init__(self, partition: int) -> None:
        self._part = Part("", partition)
        self._seen: set[tuple[str, int]] = set()
        self._rows = 0
        self._last: Any = None

    def next(self, rows: pa.RecordBatch) -> tuple[Part, Int64Array, str | None]:
        """Return part and numbers of rows that all belong to the same part, and what is wrong."""
        fault = None
        if "order" in rows.schema.names:
            fault = self._find_repeated(rows.column("order"))
        else:
            part = Part(rows.column("file")[0].as_py(), rows.column("block")[0].as_py())
            if part != self._part:
                self._part, self._rows, self._last = part, 0, None
                if (part.file, part.block) in self._seen:
                    fault = out_of_order(part)
                self._seen.add((part.file, part.block))
        numbers = np.arange(self._rows, self._rows + len(rows))
        self._rows += len(rows)
        if "row" in rows.schema.names:
            numbers = rows.column("row").to_numpy()
            # A row may come several times, if it was exploded.
            if np.any(np.diff(numbers, prepend=self._last or 0) < 0):
                fault = out_of_order(self._part)
            self._last = int(numbers[-1])
        return self._part, numbers, fault

    def _find_repeated(self, values: Any) -> str | None:
        """Find a value that occurs twice; the order of its rows would be a matter of luck."""
        last, self._last = self._last, values[-1:]
        if last is not None:
            values = pa.concat_arrays([last, values])
        after, before = values[1:], values[:-1]
        both_null = pc.and_(pc.is_null(after), pc.is_null(before))
        repeated = pc.or_(pc.fill_null(pc.equal(after, before), False), both_null)
        first = pc.index(repeated, True).as_py()
        if first < 0:
            return None
        return f"the order of rows: the value {values[first].as_py()!r} occurs more than once"


def out_of_order(part: Part) -> str:
    """Say that rows are not where the file has them."""
    return (
        f"{part.file}: the rows of the block at byte {part.block} are not together, or not in "
        "the order of the file"
    )


def _same_part(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Divide a batch where the file or the block changes."""
    if len(batch) == 0:
        return
    if "order" in batch.schema.names:
        yield batch
        return
    changes = np.zeros(len(batch) - 1, np.bool_)
    for name in ("file", "block"):
        column = batch.column(name)
        changes |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    cuts = [0, *(np.flatnonzero(changes) + 1).tolist(), len(batch)]
    for first, last in pairwise(cuts):
        yield batch.slice(first, last - first)


def _documents(
    rows: pa.RecordBatch, part: Part, numbers: Int64Array
) -> Iterator[tuple[DocumentBatch, CorpusReport]]:
    """Cut the texts of rows by bytes, in Arrow's own memory; leave out what is not UTF-8."""
    block = f"{part.file}, block {part.block}" if part.file else f"partition {part.block}"
    source = part.file if "row" in rows.schema.names else block
    options = ReadOptions(batch_bytes=BATCH_BYTES)
    for batch, places in documents_of(
        rows, part.file, options, lambda row: f"{source}, row {numbers[row]}"
    ):
        read = CorpusReport(documents=len(batch), bytes=batch.text_bytes)
        yield batch, read + report_skipped(places, options)


class _TaskCounter:
    """Counts the parts of a task, and joins them in corpus order."""

    def __init__(self, pretokenizer: Pretokenizer, partition: int) -> None:
        self._pretokenizer = pretokenizer
        self.table = partition * _MOST_TABLES
        self._part: Part | None = None
        self._native = _core.ChunkCounter(1)
        self._ended: list[tuple[Part, Columns]] = []
        self._ended_bytes = 0

    @property
    def memory(self) -> int:
        return self._native.memory + self._ended_bytes

    def begin(self, part: Part) -> None:
        """Continue with a part; end the one before it if it is another."""
        if self._part is not None:
            if (self._part.file, self._part.block) == (part.file, part.block):
                return
            self._end()
        self._part = part

    def add(self, documents: DocumentBatch, report: CorpusReport) -> None:
        assert self._part is not None
        add_batch(self._native, self._pretokenizer, documents)
        self._part = replace(self._part, report=self._part.report + report)

    def _end(self) -> None:
        assert self._part is not None
        ended = replace(self._part, size=self._native.position)
        columns = self._native.finish()
        self._ended.append((ended, columns))
        self._ended_bytes += sum(column.nbytes for column in columns)
        self._native = _core.ChunkCounter(1)

    def take_out(self) -> Iterator[pa.RecordBatch]:
        """Yield the table of all that was counted so far, and begin an empty one."""
        if self._part is None:
            return
        self._end()
        self._ended.sort(key=lambda ended: ended[0].place)
        joined = _core.ChunkCounter(1)
        begin = 0
        for part, columns in self._ended:
            joined.add_counts(*columns, begin)
            begin += part.size
        parts = [part.as_settings() for part, _ in self._ended]
        self._ended, self._ended_bytes = [], 0
        yield _output(self.table, DESCRIPTION, json.dumps({"parts": parts}).encode())
        drained = joined.drain()
        for bucket in range(BUCKETS):
            rows = to_batch(drained.bucket(bucket)[0])
            if len(rows):
                yield _output(self.table, bucket, to_bytes(rows))
        self.table += 1
        self._part = Part(self._part.file, self._part.block, self._part.piece + 1)


# 2. Reducing.


def reduce_buckets(
    batches: Iterator[pa.RecordBatch],
    moves: Mapping[int, tuple[Int64Array, Int64Array]],
    min_count: int,
) -> Iterator[pa.RecordBatch]:
    """Join the rows of each bucket of all tables.

    Args:
        batches: What :func:`count_rows` returned, without descriptions, sorted by bucket.
        moves: For each table what :meth:`~prunedbpe.counts.coverage.Coverage.moves` returned.
        min_count: Leave out chunks that occur less often.

    Yields:
        The rows of each bucket in order of first position, in pieces; ``table`` numbers them.
    """
    bucket = None
    counter = _core.ChunkCounter(1)
    for batch in batches:
        tables: list[Any] = batch.column("table").to_pylist()
        buckets: list[Any] = batch.column("bucket").to_pylist()
        for row, (table, of_bucket) in enumerate(zip(tables, buckets, strict=True)):
            if of_bucket != bucket:
                yield from _reduced(bucket, counter, min_count)
                bucket, counter = of_bucket, _core.ChunkCounter(1)
            content: Any = batch.column("content")[row]
            (data, offsets, counts, positions), _ = from_batch(from_bytes(content.as_buffer()))
            counter.add_counts(data, offsets, counts, move_positions(positions, moves[table]), 0)
    yield from _reduced(bucket, counter, min_count)


def _reduced(
    bucket: int | None, counter: _core.ChunkCounter, min_count: int
) -> Iterator[pa.RecordBatch]:
    if bucket is None:
        return
    rows = at_least(to_batch(counter.finish()), min_count)
    for piece, first in enumerate(range(0, len(rows), PIECE_ROWS)):
        yield _output(piece, bucket, to_bytes(rows.slice(first, PIECE_ROWS)))


def _output(table: int, bucket: int, content: Any) -> pa.RecordBatch:
    return pa.record_batch(
        [
            pa.array([table], pa.int64()),
            pa.array([bucket], pa.int32()),
            pa.array([content], pa.binary()),
        ],
        schema=OUTPUT,
    )


def to_bytes(rows: pa.RecordBatch) -> bytes:
    """Write rows as a compressed Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, rows.schema, options=options) as writer:
        writer.write_batch(rows)
    return sink.getvalue().to_pybytes()


def from_bytes(content: Any) -> pa.RecordBatch:
    """Read what :func:`to_bytes` wrote."""
    with pa.ipc.open_stream(content) as reader:
        return reader.read_next_batch()
