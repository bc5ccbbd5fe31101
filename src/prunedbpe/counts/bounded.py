"""Counting within a memory budget: what does not fit goes to disk, and a killed count goes on.

Batches are counted in memory. When the tables reach the budget, they are written to a folder as a
partial table, together with the place in the corpus. At the end the partial tables are joined
bucket by bucket and merged in order of first position. The result has the same bytes for any
budget. If nothing was written, the count ends in memory, as fast as without a budget.

A folder that outlives the process makes the count resumable: what a killed process has left there
is the beginning of the next one's work. Such a count also writes a partial table now and then.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from prunedbpe import _core
from prunedbpe._support.memory import memory_budget
from prunedbpe._support.progress import Progress
from prunedbpe._support.sealed_json import read_sealed, write_sealed
from prunedbpe._support.threads import thread_count, worker_count
from prunedbpe.corpus import Corpus, CorpusReport, DocumentBatch, Shard
from prunedbpe.corpus.readers import ReadPlace
from prunedbpe.counts.coverage import Coverage
from prunedbpe.errors import RunMismatchError
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.types import Settings, UInt32Array

if TYPE_CHECKING:
    import pyarrow as pa

    from prunedbpe.counts.spills import Spills

OVERHEAD = 200_000_000
"""Bytes beside the tables: Python, Arrow, batches of text that are read ahead."""

LEAST_MEMORY = OVERHEAD + 100_000_000
"""The smallest budget."""

CHECKPOINT_SECONDS = 300.0
"""A count that can be resumed writes what it has at least this often."""

_TABLE_SHARE = 0.6
"""Share of the rest for the tables. They grow in steps, and writing them takes memory too."""


def table_budget(budget: int) -> int:
    """Return how large the tables in memory may become."""
    return int((budget - OVERHEAD) * _TABLE_SHARE)


def budget_for(tables: int) -> int:
    """Return the smallest budget with which tables of this size stay in memory.

    >>> table_budget(budget_for(10**9)) // 10**6
    1000
    """
    return OVERHEAD + math.ceil(tables / _TABLE_SHARE)


def add_batch(
    counter: _core.ChunkCounter,
    pretokenizer: Pretokenizer,
    batch: DocumentBatch,
    sources: UInt32Array | None = None,
) -> None:
    """Cut the documents of a batch and count their chunks; ``sources`` are by document."""
    if pretokenizer.normalization:
        batch = batch.normalized(pretokenizer.normalization)
    if pretokenizer.is_native:
        counter.add_documents(pretokenizer.name, batch.data, batch.spans, sources)
        return
    for index, (begin, end) in enumerate(batch.spans.tolist()):
        document = batch.data[begin:end]
        source = 0 if sources is None else int(sources[index])
        counter.add_chunks(document, pretokenizer.chunk_ends(document), source)


class SourceLayout(Protocol):
    """Assigns documents to sources while they are counted."""

    def assign(self, batch: DocumentBatch, counter: BoundedCount) -> UInt32Array:
        """Return the source of each document; sources counted so far may be joined before."""

    def state(self) -> Settings:
        """All it knows, as a JSON object."""

    def restore(self, state: Settings) -> None:
        """Continue from a state."""


class BoundedCount:
    """Counts one corpus.

    Args:
        corpus: The corpus.
        pretokenizer: Cuts the documents.
        threads: Number of counting threads; one per core by default.
        memory: The budget, such as ``4GB``; half of the machine's memory by default.
        folder: Where partial tables go. A count found there is resumed. ``None`` is a temporary
            folder.
        layout: Divides the counts by source.
        checkpoint_seconds: How often a count with a folder writes what it has.

    Raises:
        SettingsError: The budget is too small.
        RunMismatchError: The folder belongs to a count of another corpus or by other rules.
    """

    def __init__(
        self,
        corpus: Corpus,
        pretokenizer: Pretokenizer,
        *,
        threads: int | None = None,
        memory: str | int | None = None,
        folder: Path | None = None,
        layout: SourceLayout | None = None,
        checkpoint_seconds: float = CHECKPOINT_SECONDS,
    ) -> None:
        self.corpus = corpus
        self.pretokenizer = pretokenizer
        self.budget = memory_budget(memory, LEAST_MEMORY)
        self.report = CorpusReport()
        self.text_bytes = 0
        self._threads = worker_count(threads)
        self._layout = layout
        self._native = _core.ChunkCounter(thread_count(threads), layout is not None)
        # Standard input and iterables cannot be read again from the middle.
        self._is_kept = folder is not None and corpus.size is not None
        self._folder = folder if self._is_kept else None
        self._checkpoint_seconds = checkpoint_seconds
        self._written_at = time.monotonic()
        self._spills: Spills | None = None
        self._groups: list[UInt32Array] = []  # by spill: the numbers that its sources have now

    # 1. Counting.

    def run(self, progress: Progress) -> None:
        """Count the corpus, or what is left of it."""
        begin_at = self._resume()
        with progress.task("Counting", total=self.corpus.size, unit="bytes") as task:
            for batch in self.corpus.batches(
                task,
                threads=self._threads,
                with_sources=self._layout is not None,
                begin_at=begin_at,
            ):
                self._add(batch)
                if self._is_full():
                    self._spill()
        self.report = self.corpus.report
        if self.is_spilled and self._native.position:
            self._spill()
        self.text_bytes = self._native.position
        if self._spills is not None:
            self.text_bytes += self._spills.text_bytes

    def _add(self, batch: DocumentBatch) -> None:
        sources = None if self._layout is None else self._layout.assign(batch, self)
        add_batch(self._native, self.pretokenizer, batch, sources)

    def regroup(self, groups: Sequence[int]) -> None:
        """Join sources: what was counted for source ``i`` now belongs to ``groups[i]``."""
        numbers = np.zeros(_core.ChunkCounter.MAX_SOURCES, np.uint32)  # most are not in use
        numbers[: len(groups)] = groups
        self._native.regroup(numbers)
        self._groups = [numbers[known] for known in self._groups]

    def _is_full(self) -> bool:
        if self._native.memory > table_budget(self.budget):
            return True
        waited = time.monotonic() - self._written_at
        return self._is_kept and waited > self._checkpoint_seconds

    # 2. What does not fit.

    @property
    def is_spilled(self) -> bool:
        """Whether a part of the counts is on disk."""
        return self._spills is not None and len(self._spills) > 0

    def _open_spills(self) -> Spills:
        from prunedbpe.counts.spills import Spills  # Arrow is slow to import

        if self._spills is None:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="prunedbpe-"))
            else:
                self._claim(self._folder)
            self._spills = Spills(self._folder, self.pretokenizer, self._threads)
        return self._spills

    def _spill(self) -> None:
        """Write all that is in memory, and the place up to which the corpus is counted."""
        by_source = self._layout is not None
        if by_source:
            self._groups.append(np.arange(_core.ChunkCounter.MAX_SOURCES, dtype=np.uint32))
        state = {
            "place": asdict(self.corpus.place),
            "report": self.corpus.report.as_settings(),
            "layout": None if self._layout is None else self._layout.state(),
            "groups": [known.tolist() for known in self._groups],
        }
        self._open_spills().write(self._native, state, by_source=by_source)
        self._written_at = time.monotonic()

    def _resume(self) -> tuple[ReadPlace, CorpusReport] | None:
        """Find what an earlier process has left; return where to go on."""
        if self._folder is None or not self._folder.exists():
            return None
        state: Any = self._open_spills().state
        if state is None:
            return None
        if self._layout is not None:
            self._layout.restore(state["layout"])
            self._groups = [np.array(known, np.uint32) for known in state["groups"]]
        return ReadPlace(**state["place"]), CorpusReport.from_settings(state["report"])

    def _claim(self, folder: Path) -> None:
        identity: Settings = {
            "corpus": self.corpus.fingerprint(),
            "options": asdict(self.corpus.options),
            "shard": None if self.corpus.shard is None else asdict(self.corpus.shard),
            "pretokenizer": self.pretokenizer.describe(),
            "by_source": None if self._layout is None else type(self._layout).__name__,
        }
        path = folder / "count.json"
        if path.exists():
            if read_sealed(path, f"remove the folder {folder} to start over") != identity:
                raise RunMismatchError(
                    f"{folder} holds the beginning of another count",
                    hint="remove the folder, or give another output",
                )
            return
        folder.mkdir(parents=True, exist_ok=True)
        write_sealed(path, identity)

    # 3. The result.

    def columns(self) -> tuple[Any, Any, Any, Any]:
        """Return the columns of the table if all of it is in memory; call it once."""
        return self._native.finish()

    def blocks(self, progress: Progress, min_count: int = 1) -> Iterator[pa.RecordBatch]:
        """Return all rows in order of first position, block by block; call it once.

        Args:
            progress: Progress reporter.
            min_count: Leave out chunks that occur less often.
        """
        from prunedbpe.counts.spills import blocks_in_memory

        if self._spills is None:
            return blocks_in_memory(self._native, self._threads, min_count)
        return self._spills.blocks(self._groups, progress, min_count)

    def write_partial_table(self, path: str | Path, shard: Shard) -> None:
        """Write the result as the partial table of a shard; call it once."""
        from prunedbpe.counts.partial_tables import drained_buckets, write_partial_table

        if self._spills is None:
            buckets = drained_buckets(self._native, self._threads)
        else:
            buckets = self._spills.buckets()
        write_partial_table(
            path,
            buckets,
            coverage=Coverage.of(shard, self.text_bytes),
            pretokenizer=self.pretokenizer,
            corpus=self.report,
        )

    def __enter__(self) -> BoundedCount:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Remove the partial tables: the result is safe, or no later process could use them."""
        if self._folder is not None and (error is None or not self._is_kept):
            shutil.rmtree(self._folder, ignore_errors=True)
