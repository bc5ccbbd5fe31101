"""Merging: buckets, each in order of first position -> one table in that order, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from prunedbpe._support.atomic_files import atomic_write
from prunedbpe._support.digests import ArrayDigest, join_digests
from prunedbpe._support.parquet import open_table
from prunedbpe.counts.partial_tables import (
    Cells,
    Columns,
    from_batch,
    read_checked,
    table_schema,
    write_checked,
)
from prunedbpe.types import AnyArray, Settings

if TYPE_CHECKING:
    from io import IOBase

SLICE_ROWS = 1 << 11
"""Rows of a bucket that are in memory at a time."""


def slices_of(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Cut the rows of a bucket into pieces for :func:`merge_by_position`."""
    for first in range(0, len(batch), SLICE_ROWS):
        yield batch.slice(first, SLICE_ROWS)


def merge_by_position(buckets: Sequence[Iterable[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """Merge buckets into one sequence of rows in order of first position.

    Chunks fall into buckets at random, so the same stretch of the corpus fills about the same share
    of each, and nearly all rows that are in memory can be written at once.

    Args:
        buckets: The rows of each bucket in order, in pieces of at most a few thousand rows.
    """
    sources = [iter(bucket) for bucket in buckets]
    loaded = [next(source, None) for source in sources]
    following = [next(source, None) for source in sources]
    while any(rows is not None for rows in loaded):
        # Up to here all rows of all buckets are in memory; a bucket that has ended sets no limit.
        limits = [
            int(_positions(rows)[-1])
            for rows, after in zip(loaded, following, strict=True)
            if rows is not None and after is not None
        ]
        ready: list[pa.RecordBatch] = []
        for i, rows in enumerate(loaded):
            if rows is None:
                continue
            count = len(rows)
            if limits:
                count = int(np.searchsorted(_positions(rows), min(limits), side="right"))
            ready.append(rows.slice(0, count))
            rest = rows.slice(count)
            after = following[i]
            if len(rest) < SLICE_ROWS and after is not None:
                rest = _join([rest, after])
                following[i] = next(sources[i], None)
            loaded[i] = rest if len(rest) else None
        joined = _join(ready)
        yield joined.take(np.argsort(_positions(joined), kind="stable"))


def _join(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _positions(rows: pa.RecordBatch) -> AnyArray:
    positions: AnyArray = rows.column("first_position").to_numpy()
    return positions


class TableDigest:
    """Digest of a table that is seen block by block, equal to that of its whole arrays."""

    def __init__(self, *, by_source: bool) -> None:
        self._digests = [ArrayDigest() for _ in range(7 if by_source else 4)]
        self._sizes = [0] * len(self._digests)
        self._types = [np.dtype(name) for name in ("u1", "i8", "i8", "i8", "i8", "u4", "i8")]
        self._add(1, np.zeros(1, np.int64))  # offsets begin with 0
        if by_source:
            self._add(4, np.zeros(1, np.int64))

    @property
    def rows(self) -> int:
        """Rows seen so far."""
        return self._sizes[2]

    def update(self, columns: Columns, cells: Cells | None) -> None:
        """Add the next rows."""
        data, offsets, counts, positions = columns
        self._add(1, offsets[1:] + self._sizes[0])
        self._add(0, data)
        self._add(2, counts)
        self._add(3, positions)
        if cells is not None:
            self._add(4, cells[0][1:] + self._sizes[5])
            self._add(5, cells[1])
            self._add(6, cells[2])

    def hexdigest(self) -> str:
        """Return the digest of all rows."""
        return join_digests(
            digest.header(dtype, (size,))
            for digest, size, dtype in zip(self._digests, self._sizes, self._types, strict=False)
        )

    def _add(self, index: int, block: AnyArray) -> None:
        self._digests[index].update(block)
        self._sizes[index] += len(block)


def write_counts(path: Path, blocks: Iterable[pa.RecordBatch], settings: Settings) -> TableDigest:
    """Write a table of counts that comes block by block, as :meth:`ChunkCounts.save` would."""
    digest = TableDigest(by_source=False)
    with open_table(path, table_schema(by_source=False), settings) as writer:
        for block in blocks:
            digest.update(*from_batch(block))
            writer.write(pa.Table.from_batches([block]))
        writer.finish(digest.hexdigest())
    return digest


def at_least(batch: pa.RecordBatch, min_count: int) -> pa.RecordBatch:
    """Return the rows of chunks that occur at least ``min_count`` times."""
    if min_count <= 1:
        return batch
    counts: AnyArray = batch.column("count").to_numpy()
    return batch.filter(pa.array(counts >= min_count))


def write_slices(path: str | Path, rows: pa.RecordBatch) -> None:
    """Write a reduced bucket so that it can be read piece by piece."""
    with atomic_write(path) as file, pa.ipc.new_file(cast("IOBase", file), rows.schema) as writer:
        for piece in slices_of(rows):
            write_checked(writer, piece)


def read_slices(path: Path) -> Iterator[pa.RecordBatch]:
    """Read what :func:`write_slices` wrote."""
    with pa.OSFile(str(path), "rb") as source:
        reader = pa.ipc.open_file(source)
        for index in range(reader.num_record_batches):
            yield read_checked(reader, index, path)
