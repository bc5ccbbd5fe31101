"""Partial tables: the counts of a part of the corpus in a file, divided by hash bucket.

Equal chunks are in the same bucket of every table, so tables of any size are joined with one bucket
in memory at a time. A file is an Arrow IPC file, which any program can read: settings in the
metadata of its schema, one record batch for each bucket, in order of first position, and the CRC-32
of every batch in the metadata of the batch.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import pyarrow as pa

from prunedbpe import _core
from prunedbpe._support.atomic_files import atomic_write
from prunedbpe._support.digests import digest_json
from prunedbpe._support.input_files import naming
from prunedbpe._support.remote_files import is_url, open_url
from prunedbpe.corpus import CorpusReport
from prunedbpe.counts.coverage import Coverage, join_coverage, move_positions
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.types import ByteArray, Int64Array, Settings, UInt32Array

if TYPE_CHECKING:
    from io import IOBase

FORMAT = "prunedbpe partial table"
FORMAT_VERSION = 1

BUCKETS: int = _core.DrainedCounts.BUCKETS
"""Into how many buckets the chunks of every table are divided."""

MOST_JOINED = 128
"""Partial tables that are open at a time; more are joined in groups first."""

Columns = tuple[ByteArray, Int64Array, Int64Array, Int64Array]
"""Chunks laid end to end, their offsets, counts and first positions."""

Cells = tuple[Int64Array, UInt32Array, Int64Array]
"""Counts by source: the cells of chunk ``i`` begin at offset ``i``; sources; counts."""

_METADATA_KEY = b"prunedbpe"
_CHECKSUM_KEY = b"crc32"
_DAMAGED = "remove the file and count that part again"

Item = TypeVar("Item")
Result = TypeVar("Result")


def table_schema(*, by_source: bool) -> pa.Schema:
    """The columns of a table of counts."""
    fields: list[tuple[str, pa.DataType]] = [
        ("chunk", pa.large_binary()),
        ("count", pa.int64()),
        ("first_position", pa.int64()),
    ]
    if by_source:
        fields.append(("sources", pa.large_list(pa.uint32())))
        fields.append(("source_counts", pa.large_list(pa.int64())))
    return pa.schema(fields)


def to_batch(columns: Columns, cells: Cells | None = None) -> pa.RecordBatch:
    """Make a record batch of rows, without copying."""
    data, offsets, counts, first_positions = columns
    chunks = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(),
        len(counts),
        [None, pa.py_buffer(offsets.data), pa.py_buffer(data.data)],
    )
    arrays = [chunks, pa.array(counts), pa.array(first_positions)]
    if cells is not None:
        lists: Any = pa.LargeListArray  # the stubs know no arrays of NumPy
        cell_offsets, sources, cell_counts = cells
        arrays += [lists.from_arrays(cell_offsets, values) for values in (sources, cell_counts)]
    return pa.record_batch(arrays, schema=table_schema(by_source=cells is not None))


def from_batch(batch: pa.RecordBatch) -> tuple[Columns, Cells | None]:
    """Return the rows of a record batch, or of a table of one chunk, as arrays."""
    chunks: Any = batch.column("chunk")
    _, offset_buffer, data_buffer = chunks.buffers()
    offsets = np.frombuffer(memoryview(offset_buffer or bytes(8)), np.int64)
    offsets = offsets[chunks.offset : chunks.offset + len(chunks) + 1]
    data = np.frombuffer(memoryview(data_buffer or b""), np.uint8)[offsets[0] : offsets[-1]]
    columns = (
        data,
        offsets - offsets[0] if offsets[0] else offsets,
        batch.column("count").to_numpy(),
        batch.column("first_position").to_numpy(),
    )
    if "sources" not in batch.schema.names:
        return columns, None
    sources: Any = batch.column("sources")
    counts: Any = batch.column("source_counts")
    bounds = sources.offsets.to_numpy()
    cells = (bounds - bounds[0], sources.flatten().to_numpy(), counts.flatten().to_numpy())
    return columns, cells


class PartialTable:
    """A partial table on disk; reads one bucket at a time.

    Args:
        path: The file, or its URL.

    Attributes:
        path: The file.
        coverage: The shards of the corpus that it holds.
        pretokenizer: The one that cut them.
        corpus: What was read.
        extra: What the writer added to the settings.

    Raises:
        FormatError: The file is missing or damaged.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self._source = _open(path)
        try:
            self._reader = pa.ipc.open_file(self._source)
            settings = json.loads((self._reader.schema.metadata or {})[_METADATA_KEY])
            checksum = settings.pop("checksum")
        except (pa.ArrowException, OSError, ValueError, LookupError, AttributeError) as error:
            self.close()
            raise FormatError(f"{path}: not a partial table: {error}", hint=_DAMAGED) from error
        with naming(path):
            if (settings["format"], settings["version"]) != (FORMAT, FORMAT_VERSION):
                raise FormatError("not a partial table, or of another version", hint=_DAMAGED)
            if checksum != digest_json(settings) or self._reader.num_record_batches != BUCKETS:
                raise FormatError("its checksum does not match its contents", hint=_DAMAGED)
            coverage = Coverage.from_settings(settings["coverage"])
            if coverage is None:
                raise FormatError("its place in the corpus is missing", hint=_DAMAGED)
            self.coverage = coverage
            self.pretokenizer = Pretokenizer.from_settings(settings["pretokenizer"])
            self.corpus = CorpusReport.from_settings(settings["corpus"])
            self.extra: Settings = settings["extra"]
        self.by_source = "sources" in self._reader.schema.names

    def bucket(self, index: int) -> tuple[Columns, Cells | None]:
        """Read one bucket.

        Raises:
            FormatError: It is damaged.
        """
        return from_batch(read_checked(self._reader, index, self.path))

    def close(self) -> None:
        """Close the file."""
        self._source.close()


def write_partial_table(
    path: str | Path,
    buckets: Iterable[tuple[Columns, Cells | None]],
    *,
    coverage: Coverage,
    pretokenizer: Pretokenizer,
    corpus: CorpusReport,
    by_source: bool = False,
    extra: Settings | None = None,
) -> None:
    """Write a partial table; the file appears when it is complete.

    Args:
        path: The file, or its URL.
        buckets: The rows of each bucket, in order of first position.
        coverage: The shards it holds.
        pretokenizer: The one that cut them.
        corpus: What was read.
        by_source: Whether the counts are divided by source.
        extra: Whatever else the writer wants to find there.
    """
    settings: Settings = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "coverage": coverage.as_settings(),
        "pretokenizer": pretokenizer.describe(),
        "corpus": corpus.as_settings(),
        "extra": extra or {},
    }
    settings = json.loads(json.dumps({**settings, "checksum": digest_json(settings)}))
    schema = table_schema(by_source=by_source).with_metadata(
        {_METADATA_KEY: json.dumps(settings).encode()}
    )
    with atomic_write(path) as file, pa.ipc.new_file(cast("IOBase", file), schema) as writer:
        for columns, cells in buckets:
            write_checked(writer, to_batch(columns, cells))


def write_checked(writer: pa.RecordBatchFileWriter, batch: pa.RecordBatch) -> None:
    """Write a record batch with its checksum."""
    writer.write_batch(batch, {_CHECKSUM_KEY: _checksum(batch)})


def read_checked(reader: pa.RecordBatchFileReader, index: int, path: str | Path) -> pa.RecordBatch:
    """Read what :func:`write_checked` wrote.

    Raises:
        FormatError: It is damaged; the message names the file.
    """
    try:
        batch, metadata = reader.get_batch_with_custom_metadata(index)
        if metadata is not None and metadata.get(_CHECKSUM_KEY) == _checksum(batch):
            return batch
    except (pa.ArrowException, OSError, ValueError, AttributeError) as error:
        raise FormatError(f"{path}: batch {index}: {error}", hint=_DAMAGED) from error
    raise FormatError(
        f"{path}: the checksum of batch {index} does not match its contents", hint=_DAMAGED
    )


def drained_buckets(
    counter: _core.ChunkCounter, threads: int
) -> Iterator[tuple[Columns, Cells | None]]:
    """Take out what a native counter holds, bucket by bucket, and leave it empty."""
    drained = counter.drain()

    def bucket(index: int) -> tuple[Columns, Cells | None]:
        columns, offsets, sources, counts = drained.bucket(index)
        return columns, (offsets, sources, counts) if len(offsets) else None

    return in_order(bucket, range(BUCKETS), threads)


def in_order(
    function: Callable[[Item], Result], items: Sequence[Item], threads: int
) -> Iterator[Result]:
    """Yield the results of a function in order, computed by several threads, few ahead."""
    if threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        ahead = []
        for item in items:
            ahead.append(pool.submit(function, item))
            if len(ahead) > threads:
                yield ahead.pop(0).result()
        for future in ahead:
            yield future.result()


class BucketReducer:
    """Joins partial tables bucket by bucket.

    Args:
        tables: All cut by the same pretokenizer, of the same corpus, in any order.
        groups: For each table, the number that each of its sources has in the result.

    Attributes:
        coverage: What the tables cover together.
        corpus: What was read for all of them.
        pretokenizer: The one that cut them.

    Raises:
        SettingsError: The tables do not belong together.
    """

    def __init__(
        self, tables: Sequence[PartialTable], groups: Sequence[UInt32Array] | None = None
    ) -> None:
        self.coverage = join_coverage([table.coverage for table in tables])
        self.pretokenizer = tables[0].pretokenizer
        self.by_source = tables[0].by_source
        for table in tables:
            if table.pretokenizer != self.pretokenizer:
                raise SettingsError(
                    f"{tables[0].path} was cut by {self.pretokenizer.describe()}, "
                    f"{table.path} by {table.pretokenizer.describe()}",
                    hint="count all parts with the same pretokenizer",
                )
        # In corpus order: a report names the first places that were skipped.
        ordered = sorted(tables, key=lambda table: table.coverage.indices)
        self.corpus = sum((table.corpus for table in ordered), CorpusReport())
        self._tables = tables
        self._groups = groups
        self._moves = [table.coverage.moves(self.coverage) for table in tables]

    def bucket(self, index: int) -> tuple[Columns, Cells | None]:
        """Return the rows of one bucket of all tables, joined; several threads may call it."""
        counter = _core.ChunkCounter(1, self.by_source)
        for number, (table, moves) in enumerate(zip(self._tables, self._moves, strict=True)):
            (data, offsets, counts, positions), cells = table.bucket(index)
            moved = move_positions(positions, moves)
            if cells is None:
                counter.add_counts(data, offsets, counts, moved, 0)
                continue
            cell_offsets, sources, cell_counts = cells
            if self._groups is not None:
                sources = self._groups[number][sources]
            counter.add_source_counts(
                data, offsets, counts, moved, cell_offsets, sources, cell_counts, 0
            )
        if not self.by_source:
            return counter.finish(), None
        columns, *found = counter.finish_by_source()
        return columns, cast("Cells", tuple(found))


def join_partial_tables(path: str | Path, parts: Sequence[str | Path], threads: int = 1) -> None:
    """Join partial tables to a larger one, one bucket for each thread in memory at a time."""
    tables = [PartialTable(part) for part in parts]
    try:
        reducer = BucketReducer(tables)
        write_partial_table(
            path,
            in_order(reducer.bucket, range(BUCKETS), threads),
            coverage=reducer.coverage,
            pretokenizer=reducer.pretokenizer,
            corpus=reducer.corpus,
            by_source=reducer.by_source,
        )
    finally:
        for table in tables:
            table.close()


def _open(path: str | Path) -> Any:
    try:
        if is_url(str(path)):
            return pa.PythonFile(cast("IOBase", open_url(str(path), read_ahead=False)), "r")
        return pa.OSFile(str(path), "rb")
    except OSError as error:
        raise FormatError(
            f"{path}: cannot be read: {error}", hint="count that part again"
        ) from error


def _checksum(batch: pa.RecordBatch) -> bytes:
    columns, cells = from_batch(batch)
    found = 0
    for array in (*columns, *(cells or ())):
        found = zlib.crc32(np.ascontiguousarray(array).data, found)
    return str(found).encode()
