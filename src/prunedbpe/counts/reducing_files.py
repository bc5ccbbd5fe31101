"""Reducing files: tables of shards on disk -> the table of the whole, within a memory budget."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from prunedbpe import _core
from prunedbpe._support.input_files import naming
from prunedbpe._support.memory import memory_budget
from prunedbpe._support.parquet import check_table, read_groups, read_settings
from prunedbpe._support.progress import ProgressLike, as_progress
from prunedbpe._support.threads import worker_count
from prunedbpe.corpus import CorpusReport
from prunedbpe.counts.bounded import LEAST_MEMORY, table_budget
from prunedbpe.counts.bucket_merge import TableDigest, write_counts
from prunedbpe.counts.chunk_counts import FORMAT, FORMAT_VERSION, ChunkCounts
from prunedbpe.counts.counting import CountedFile, parts_folder
from prunedbpe.counts.coverage import Coverage, join_coverage, move_positions
from prunedbpe.counts.partial_tables import from_batch
from prunedbpe.counts.reducing import reduce_counts
from prunedbpe.counts.spills import Spills, blocks_in_memory
from prunedbpe.errors import SettingsError
from prunedbpe.pretokenizers import Pretokenizer


def reduce_files(
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    partial: bool = False,
    min_chunk_count: int = 1,
    threads: int | None = None,
    memory: str | int | None = None,
    progress: ProgressLike = None,
) -> CountedFile:
    """Reduce tables that :func:`prunedbpe.count_to_file` wrote, as :func:`reduce_counts` does.

    Args:
        paths: The tables of shards, in any order; or whole tables, in corpus order.
        output: The Parquet file to write.
        partial: Whether shards may be missing.
        min_chunk_count: As for :func:`prunedbpe.count`; not for a partial table.
        threads: One per core by default.
        memory: How much memory the process may take; half of the machine's by default.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    Raises:
        FormatError: A table is damaged.
        SettingsError: The tables do not belong together; a shard is missing or comes twice.
    """
    progress = as_progress(progress)
    output = Path(output)
    inputs = [Path(path) for path in paths]
    if not inputs:
        raise SettingsError("no tables to reduce")
    budget = memory_budget(memory, LEAST_MEMORY)
    settings = [read_settings(path, FORMAT, FORMAT_VERSION) for path in inputs]
    coverages: list[Coverage] = []
    for path, found in zip(inputs, settings, strict=True):
        with naming(path):
            coverage = Coverage.from_settings(found["coverage"])
        if coverage is not None:
            coverages.append(coverage)
        if found["pretokenizer"] != settings[0]["pretokenizer"]:
            raise SettingsError(
                f"{inputs[0]} was cut by {settings[0]['pretokenizer']}, "
                f"{path} by {found['pretokenizer']}",
                hint="count all shards with the same pretokenizer",
            )
    if len(coverages) < len(inputs):  # whole tables do not say how many bytes they cover
        table = reduce_counts([ChunkCounts.load(path) for path in inputs], partial=partial)
        table = table.at_least(min_chunk_count)
        table.save(output)
        return CountedFile(len(table), table.digest, table, budget)
    whole = join_coverage(coverages)
    if not partial:
        whole.check_whole()
    ordered = sorted(zip(coverages, settings, strict=True), key=lambda pair: pair[0].indices)
    reports = (CorpusReport.from_settings(found["corpus"]) for _, found in ordered)
    header = ChunkCounts.empty(
        pretokenizer=Pretokenizer.from_settings(settings[0]["pretokenizer"]),
        corpus=sum(reports, CorpusReport()),
        coverage=whole,
    )
    if min_chunk_count > 1:
        header = header.at_least(min_chunk_count)
    counter = _core.ChunkCounter(1)
    workers = worker_count(threads)
    with _empty_folder(parts_folder(output)) as folder:
        spills = Spills(folder, header.pretokenizer, workers)
        with progress.task("Reading", total=len(inputs), unit="tables") as task:
            for path, found, coverage in zip(inputs, settings, coverages, strict=True):
                digest = TableDigest(by_source=False)
                for group in read_groups(path, ChunkCounts.ARROW_COLUMNS):
                    (batch,) = group.combine_chunks().to_batches()
                    columns, _ = from_batch(batch)
                    digest.update(columns, None)
                    moved = move_positions(columns[3], coverage.moves(whole))
                    counter.add_counts(*columns[:3], moved, 0)
                    if counter.memory > table_budget(budget):
                        spills.write(counter, {}, by_source=False)
                check_table(path, found, digest.hexdigest())
                task.advance(1)
        spilled = len(spills) > 0
        if spilled:
            spills.write(counter, {}, by_source=False)
            blocks = spills.blocks([], progress, min_chunk_count)
        else:
            blocks = blocks_in_memory(counter, workers, min_chunk_count)
        written = write_counts(output, blocks, header.settings())
    return CountedFile(written.rows, written.hexdigest(), header, budget, spilled)


@contextmanager
def _empty_folder(folder: Path) -> Iterator[Path]:
    """Make a folder for the time of a block, without what a killed process has left there."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
