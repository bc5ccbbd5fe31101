"""Spills: partial tables that a count has written, because memory was full or as a checkpoint.

Each holds what was counted since the one before it, and the state of the count, so the last one
tells where to go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from prunedbpe import _core
from prunedbpe._support.progress import Progress
from prunedbpe._support.temporary_files import remove_leftovers
from prunedbpe.corpus import CorpusReport
from prunedbpe.counts.bucket_merge import (
    at_least,
    merge_by_position,
    read_slices,
    slices_of,
    write_slices,
)
from prunedbpe.counts.coverage import Coverage
from prunedbpe.counts.partial_tables import (
    BUCKETS,
    MOST_JOINED,
    BucketReducer,
    Cells,
    Columns,
    PartialTable,
    drained_buckets,
    in_order,
    join_partial_tables,
    to_batch,
    write_partial_table,
)
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.types import Settings, UInt32Array

_MOST_SPILLS = 1 << 30
"""A spill is a shard of a count of unknown length."""


class Spills:
    """The partial tables of one count, in a folder.

    Args:
        folder: The folder; spills of an earlier process are found there.
        pretokenizer: Cuts the documents.
        threads: Number of threads.

    Attributes:
        text_bytes: Bytes of text in all spills.
        state: The state that came with the last one, if there is any.
    """

    def __init__(self, folder: Path, pretokenizer: Pretokenizer, threads: int) -> None:
        self._folder = folder
        self._pretokenizer = pretokenizer
        self._threads = threads
        self._paths: list[Path] = []
        self.text_bytes = 0
        self.state: Settings | None = None
        while (path := self._next_path()).exists():
            self._paths.append(path)
            table = PartialTable(path)
            self.text_bytes += sum(table.coverage.sizes)
            self.state = table.extra
            table.close()
        remove_leftovers(path)

    def __len__(self) -> int:
        return len(self._paths)

    def _next_path(self) -> Path:
        return self._folder / f"part-{len(self._paths):05d}.arrow"

    def write(self, counter: _core.ChunkCounter, state: Settings, *, by_source: bool) -> None:
        """Write all that a counter holds, and leave it empty."""
        size = counter.position
        write_partial_table(
            self._next_path(),
            drained_buckets(counter, self._threads),
            coverage=Coverage(_MOST_SPILLS, (len(self),), (size,)),
            pretokenizer=self._pretokenizer,
            corpus=CorpusReport(),
            by_source=by_source,
            extra=state,
        )
        self._paths.append(self._next_path())
        self.text_bytes += size

    def blocks(
        self, groups: Sequence[UInt32Array], progress: Progress, min_count: int = 1
    ) -> Iterator[pa.RecordBatch]:
        """Reduce all spills; return the rows in order of first position, block by block.

        Args:
            groups: By spill, the number that each of its sources has in the result; none if counts
                are not divided by source.
            progress: Progress reporter.
            min_count: Leave out chunks that occur less often.
        """
        paths = self._paths if groups else self._few_tables()
        tables = [PartialTable(path) for path in paths]
        try:
            reducer = BucketReducer(tables, groups or None)
            reduced = self._reduce(reducer, progress, min_count)
            yield from merge_by_position([read_slices(path) for path in reduced])
        finally:
            for table in tables:
                table.close()

    def buckets(self) -> Iterator[tuple[Columns, Cells | None]]:
        """Join all spills, and return the rows of each bucket in order of first position."""
        tables = [PartialTable(path) for path in self._few_tables()]
        try:
            yield from in_order(BucketReducer(tables).bucket, range(BUCKETS), self._threads)
        finally:
            for table in tables:
                table.close()

    def _few_tables(self) -> list[Path]:
        """Join partial tables until all can be open at once."""
        paths, level = self._paths, 0
        while len(paths) > MOST_JOINED:
            joined = []
            for first in range(0, len(paths), MOST_JOINED):
                path = self._folder / f"joined-{level}-{first:05d}.arrow"
                if not path.exists():
                    join_partial_tables(path, paths[first : first + MOST_JOINED], self._threads)
                joined.append(path)
            paths, level = joined, level + 1
        return paths

    def _reduce(self, reducer: BucketReducer, progress: Progress, min_count: int) -> list[Path]:
        """Join the partial tables, each bucket into a file of its own."""

        def reduce(index: int) -> Path:
            path = self._folder / f"bucket-{index:03d}-{min_count}.arrow"
            if not path.exists():
                write_slices(path, at_least(to_batch(*reducer.bucket(index)), min_count))
            return path

        with progress.task("Reducing", total=BUCKETS, unit="buckets") as task:
            paths = []
            for path in in_order(reduce, range(BUCKETS), self._threads):
                paths.append(path)
                task.advance(1)
        return paths


def blocks_in_memory(
    counter: _core.ChunkCounter, threads: int, min_count: int = 1
) -> Iterator[pa.RecordBatch]:
    """Take out what a counter holds, in order of first position, block by block."""
    buckets = [to_batch(*rows) for rows in drained_buckets(counter, threads)]
    return merge_by_position([slices_of(at_least(bucket, min_count)) for bucket in buckets])
