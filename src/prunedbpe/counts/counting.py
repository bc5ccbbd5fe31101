"""Counting: a corpus -> its chunk counts, the same for any number of threads and any budget."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prunedbpe._support.arguments import to_path
from prunedbpe._support.progress import Progress, ProgressLike, as_progress
from prunedbpe.corpus import Corpus, CorpusInput, CorpusReport, open_corpus
from prunedbpe.counts.bounded import CHECKPOINT_SECONDS, BoundedCount
from prunedbpe.counts.chunk_counts import ChunkCounts, check_min_chunk_count
from prunedbpe.counts.coverage import Coverage
from prunedbpe.errors import SettingsError
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer


def count(
    corpus: CorpusInput | Corpus,
    *,
    pretokenizer: str | Pretokenizer = "paper",
    min_chunk_count: int = 1,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: ProgressLike = None,
    engine: str | None = None,
    address: str | None = None,
) -> ChunkCounts:
    """Count the unique chunks of a corpus.

    Args:
        corpus: Paths, an iterable of texts, Arrow data, or a :class:`~prunedbpe.corpus.Corpus`.
        pretokenizer: A built-in name, a regular expression, or a pretokenizer.
        min_chunk_count: An approximation: drop chunks that occur fewer times; 1 is exact.
        threads: Number of counting threads; one per core by default.
        memory: How much memory counting may take, such as ``4GB``; half of the machine's by
            default. What does not fit goes to temporary files. The table that is returned comes on
            top; :func:`count_to_file` needs no memory for it.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.
        engine: ``"ray"`` counts on a Ray cluster, see :mod:`prunedbpe.counts.engines.ray`. Each of
            its tasks may then take ``threads`` CPUs, 1 by default, and ``memory``.
        address: Of the cluster; by default that of the environment, or a new one on this machine.

    Returns:
        The table; empty if the corpus holds no text.

    Raises:
        SettingsError: ``min_chunk_count`` is below 1, or above 1 for a shard.

    >>> table = count(iter(["to be or not to be"]))
    >>> dict(table.items())
    {b'to': 1, b' be': 2, b' or': 1, b' not': 1, b' to': 1}
    """
    progress = as_progress(progress)
    if engine is not None:
        counts: ChunkCounts = _find_engine(engine).count(
            corpus, pretokenizer=pretokenizer, min_chunk_count=min_chunk_count, address=address,
            cpus_per_task=threads or 1, memory=memory, progress=progress,
        )  # fmt: skip
        return counts
    corpus = open_corpus(corpus)
    check_min_chunk_count(min_chunk_count, corpus.shard)
    with BoundedCount(
        corpus, find_pretokenizer(pretokenizer), threads=threads, memory=memory
    ) as counter:
        counter.run(progress)
        return _table(counter, progress, min_chunk_count)


@dataclass(frozen=True)
class CountedFile:
    """What :func:`count_to_file` has written.

    Attributes:
        chunks: Number of unique chunks.
        digest: As :attr:`ChunkCounts.digest`.
        header: The table without its chunks: pretokenizer, corpus, shard.
        memory: The budget, in bytes.
        spilled: Whether a part of the counts was on disk.
        table: The table, if it was in memory anyway.
    """

    chunks: int
    digest: str
    header: ChunkCounts
    memory: int
    spilled: bool = False
    table: ChunkCounts | None = None

    @property
    def corpus(self) -> CorpusReport:
        """What was read and what was skipped."""
        return self.header.corpus


def count_to_file(
    corpus: CorpusInput | Corpus,
    path: str | Path,
    *,
    pretokenizer: str | Pretokenizer = "paper",
    min_chunk_count: int = 1,
    threads: int | None = None,
    memory: str | int | None = None,
    folder: str | Path | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    progress: ProgressLike = None,
) -> CountedFile:
    """Count a corpus into a file, within a memory budget, and resume a count that was killed.

    Args:
        corpus: As for :func:`count`.
        path: The Parquet file to write, the same as that of :meth:`ChunkCounts.save`.
        pretokenizer: As for :func:`count`.
        min_chunk_count: As for :func:`count`.
        threads: As for :func:`count`.
        memory: How much memory the process may take; half of the machine's by default.
        folder: Where the count keeps what does not fit, and what it has done so far, until the
            file is complete; ``path`` with ``.parts`` appended by default.
        checkpoint_seconds: How often it writes what it has counted.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    Raises:
        RunMismatchError: The folder belongs to another count.
        SettingsError: The budget is too small.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     path = Path(temporary, "counts.parquet")
    ...     found = count_to_file(iter(["to be or not to be"]), path)
    ...     found.chunks, dict(ChunkCounts.load(path).items())[b" be"]
    (5, 2)
    """
    progress = as_progress(progress)
    path = to_path(path)
    corpus = open_corpus(corpus)
    check_min_chunk_count(min_chunk_count, corpus.shard)
    with BoundedCount(
        corpus,
        find_pretokenizer(pretokenizer),
        threads=threads,
        memory=memory,
        folder=to_path(folder or parts_folder(path)),
        checkpoint_seconds=checkpoint_seconds,
    ) as counter:
        counter.run(progress)
        if counter.is_spilled:
            from prunedbpe.counts.bucket_merge import write_counts  # Arrow is slow to import

            header = _table_of(counter, [], min_chunk_count)
            blocks = counter.blocks(progress, min_chunk_count)
            written = write_counts(path, blocks, header.settings())
            return CountedFile(
                written.rows, written.hexdigest(), header, counter.budget, spilled=True
            )
        table = _table(counter, progress, min_chunk_count)
        table.save(path)
        return CountedFile(len(table), table.digest, table, counter.budget, table=table)


def parts_folder(path: Path) -> Path:
    """Where the count of a file keeps what it has done so far."""
    return path.with_name(f"{path.name}.parts")


def _find_engine(name: str) -> Any:
    if name != "ray":
        raise SettingsError(f"engine {name!r}", hint="use 'ray', or None for this machine")
    return importlib.import_module(f"prunedbpe.counts.engines.{name}")


def _table(counter: BoundedCount, progress: Progress, min_chunk_count: int) -> ChunkCounts:
    if counter.is_spilled:
        return _table_of(counter, counter.blocks(progress, min_chunk_count), min_chunk_count)
    coverage = Coverage.of(counter.corpus.shard, counter.text_bytes)
    columns = counter.columns()
    table = ChunkCounts(*columns, counter.pretokenizer, counter.report, coverage)
    return table.at_least(min_chunk_count)


def _table_of(counter: BoundedCount, blocks: Iterable[Any], min_chunk_count: int) -> ChunkCounts:
    return ChunkCounts.from_blocks(
        blocks,
        pretokenizer=counter.pretokenizer,
        corpus=counter.report,
        coverage=Coverage.of(counter.corpus.shard, counter.text_bytes),
        min_chunk_count=min_chunk_count,
    )
