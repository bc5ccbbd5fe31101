"""Ray: a corpus, or a dataset of Ray -> its chunk counts, as a count on one machine.

1. Tasks count parts of the corpus; each writes a partial table into a folder that all nodes see.
2. If there are many, tasks join them in groups.
3. Tasks reduce the tables, each a range of hash buckets.
4. The driver merges the buckets in order of first position, block by block.

No process holds the whole table. The files have the bytes of ``prunedbpe.count(...).save(path)``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from prunedbpe._support import locations
from prunedbpe._support.memory import memory_budget
from prunedbpe._support.progress import Progress, ProgressLike, as_progress
from prunedbpe._support.ray_tasks import RayCluster, ray_cluster
from prunedbpe._support.sizes import parse_size
from prunedbpe.corpus import Corpus, CorpusInput, Shard, open_corpus
from prunedbpe.counts.bounded import LEAST_MEMORY
from prunedbpe.counts.chunk_counts import ChunkCounts, check_min_chunk_count
from prunedbpe.counts.counting import CountedFile
from prunedbpe.counts.engines.part_folder import PartFolder, plan_parts_of
from prunedbpe.counts.partial_tables import BUCKETS, MOST_JOINED
from prunedbpe.errors import CorpusError, SettingsError
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer

PART_BYTES = 1_000_000_000
"""Bytes on disk of a part."""

_MOST_BLOCKS = 1 << 30
"""A block is a shard of a dataset of unknown length."""


def count(corpus: Any, **options: Any) -> ChunkCounts:
    """Count a corpus on a Ray cluster, and load the table.

    Args:
        corpus: Files, or a ``ray.data.Dataset``.
        **options: As for :func:`count_to_file` or, if it is a ``ray.data.Dataset``, for
            :func:`count_dataset`. Without ``folder``, all nodes must share the temporary folder of
            this machine.
    """
    with tempfile.TemporaryDirectory(prefix="prunedbpe-") as temporary:
        path = Path(temporary, "counts.parquet")
        if type(corpus).__module__.startswith("ray.data"):
            count_dataset(corpus, path, **options)
        else:
            count_to_file(corpus, path, **options)
        return ChunkCounts.load(path)


def count_to_file(
    corpus: CorpusInput | Corpus,
    path: str | Path,
    *,
    pretokenizer: str | Pretokenizer = "paper",
    min_chunk_count: int = 1,
    address: str | None = None,
    parts: int | None = None,
    part_bytes: str | int = PART_BYTES,
    folder: str | Path | None = None,
    cpus_per_task: int = 1,
    memory: str | int | None = None,
    progress: ProgressLike = None,
) -> CountedFile:
    """Count a corpus of files on a Ray cluster, and resume a count that was stopped.

    All nodes need ``prunedbpe`` and see the files and the folder under the same paths or URLs.

    Args:
        corpus: Files that can be read again: no standard input, iterable or shard.
        path: The Parquet file to write, the same as that of :meth:`ChunkCounts.save`.
        pretokenizer: As for :func:`prunedbpe.count`.
        min_chunk_count: As for :func:`prunedbpe.count`.
        address: Of the cluster; by default that of the environment, or a new one on this machine.
        parts: Into how many parts the corpus is divided.
        part_bytes: Otherwise, how large a part is on disk; there are some for each CPU.
        folder: Where the parts go: a path, or a URL such as ``s3://bucket/parts``. A count found
            there is resumed. A folder that is named is kept; by default it is ``path`` with
            ``.parts`` appended, and removed at the end.
        cpus_per_task: CPUs, and so threads, that count a part.
        memory: How much memory counting a part may take; Ray starts no more tasks on a node than
            have room. By default tasks share half of the memory of a machine.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    Raises:
        CorpusError: A file is damaged, or a worker sees other files.
        FormatError: A part is damaged; the message names it.
        MissingExtraError: Ray is not installed.
        RunMismatchError: The folder belongs to another count.
        SettingsError: The corpus cannot be divided.
    """
    progress = as_progress(progress)
    corpus = open_corpus(corpus)
    check_min_chunk_count(min_chunk_count, None)
    job = _open_job(folder or f"{path}.parts", pretokenizer, cpus_per_task, memory)
    if parts is not None and parts < 1:
        raise SettingsError(f"parts is {parts}", hint="give at least 1")
    plan_parts_of(corpus, PART_BYTES, 1)  # refuse a corpus before a cluster is started
    with ray_cluster(address, "counting on a Ray cluster") as cluster:
        planned = plan_parts_of(corpus, parse_size(part_bytes, "part_bytes"), cluster.cpus)
        shards = [Shard(i, n) for n in [job.claim(corpus, parts, planned)] for i in range(n)]
        _count_parts(cluster, job, corpus, shards, progress)
        paths = _reduce(cluster, job, [job.part_path(shard) for shard in shards], progress)
        found = job.write(paths, Path(path), min_chunk_count)
    if folder is None:
        locations.remove_folder(job.folder)
    return found


def count_dataset(
    dataset: Any,
    path: str | Path,
    *,
    text_field: str = "text",
    pretokenizer: str | Pretokenizer = "paper",
    min_chunk_count: int = 1,
    address: str | None = None,
    folder: str | Path | None = None,
    cpus_per_task: int = 1,
    memory: str | int | None = None,
    progress: ProgressLike = None,
) -> CountedFile:
    """Count a column of a ``ray.data.Dataset``, in the order of its rows.

    Every block is counted where Ray puts the task, without Python strings, while the dataset is
    being computed. A count that was stopped begins anew: a dataset has no identity.

    Args:
        dataset: Its rows are documents; null and empty rows hold none.
        path: The Parquet file to write, the same as that of :meth:`ChunkCounts.save`.
        text_field: The column that holds the text.
        pretokenizer: As for :func:`prunedbpe.count`.
        min_chunk_count: As for :func:`prunedbpe.count`.
        address: As for :func:`count_to_file`.
        folder: A folder or URL that all nodes see, for temporary files; that of ``path`` by
            default.
        cpus_per_task: As for :func:`count_to_file`.
        memory: As for :func:`count_to_file`.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    Raises:
        CorpusError: There is no such column, or it does not hold text.
        MissingExtraError: Ray is not installed.
    """
    progress = as_progress(progress)
    check_min_chunk_count(min_chunk_count, None)
    within = locations.absolute(folder or Path(path).parent)
    job = _open_job(f"{within}/dataset-{uuid4().hex}", pretokenizer, cpus_per_task, memory)
    locations.create_folder(job.folder)
    try:
        with ray_cluster(address, "counting a dataset of Ray") as cluster:
            parts = _count_blocks(cluster, job, dataset, text_field, progress)
            paths = _reduce(cluster, job, parts, progress)
            return job.write(paths, Path(path), min_chunk_count)
    finally:
        locations.remove_folder(job.folder)


def _open_job(
    folder: str | Path, pretokenizer: str | Pretokenizer, cpus: int, memory: str | int | None
) -> PartFolder:
    if cpus < 1:
        raise SettingsError(f"cpus_per_task is {cpus}", hint="give at least 1")
    budget = None if memory is None else memory_budget(memory, LEAST_MEMORY)
    return PartFolder(locations.absolute(folder), find_pretokenizer(pretokenizer), cpus, budget)


def _count_parts(
    cluster: RayCluster,
    job: PartFolder,
    corpus: Corpus,
    shards: Sequence[Shard],
    progress: Progress,
) -> None:
    shared = cluster.share(corpus.part(None))
    total = corpus.size or 0
    ends = [total * (shard.index + 1) // shard.count for shard in shards]
    with progress.task("Counting", total=total, unit="bytes") as task:
        calls = ((job, shared, shard) for shard in shards)
        for number, _ in cluster.run(
            PartFolder.count_part, calls, cpus=job.threads, memory=job.memory
        ):
            task.advance(ends[number] - (ends[number - 1] if number else 0))


def _count_blocks(
    cluster: RayCluster, job: PartFolder, dataset: Any, text_field: str, progress: Progress
) -> list[str]:
    dataset.context.execution_options.preserve_order = True
    sizes: list[int] = []

    def calls() -> Iterator[tuple[Any, ...]]:
        for bundle in dataset.iter_internal_ref_bundles():
            # A limit leaves blocks of which only some rows count.
            some_rows = getattr(bundle, "slices", None) or [None] * len(bundle.block_refs)
            for block, metadata, rows in zip(
                bundle.block_refs, bundle.metadata, some_rows, strict=True
            ):
                sizes.append(metadata.size_bytes or 0)
                bounds = None if rows is None else (rows.start_offset, rows.end_offset)
                yield job, block, len(sizes) - 1, text_field, bounds

    with progress.task("Counting", total=None, unit="bytes") as task:
        # Few ahead: blocks that wait for a task fill the object store.
        ahead = 2 * cluster.cpus
        for number, _ in cluster.run(
            _count_block, calls(), cpus=job.threads, memory=job.memory, ahead=ahead
        ):
            task.advance(sizes[number])
    if not sizes:
        raise CorpusError("the dataset has no blocks", hint="check where its rows come from")
    return [job.part_path(Shard(i, _MOST_BLOCKS)) for i in range(len(sizes))]


def _count_block(
    job: PartFolder, block: Any, index: int, text_field: str, rows: tuple[int, int] | None
) -> None:
    from ray.data.block import BlockAccessor

    shard = Shard(index, _MOST_BLOCKS)
    table = BlockAccessor.for_block(block).to_arrow()
    if rows is not None:
        table = table.slice(rows[0], rows[1] - rows[0])
    job.write_part(Corpus.from_arrow(table, text_field=text_field), shard)


def _reduce(
    cluster: RayCluster, job: PartFolder, paths: Sequence[str], progress: Progress
) -> Sequence[str]:
    """Reduce all buckets; return the partial tables that were reduced."""
    level = 0
    while len(paths) > MOST_JOINED:
        joins = job.joins(paths, level)
        with progress.task("Joining", total=len(joins), unit="tables") as task:
            for _ in cluster.run(
                PartFolder.join, ((job, *join) for join in joins), cpus=job.threads
            ):
                task.advance(1)
        paths, level = [path for path, _ in joins], level + 1
    with progress.task("Reducing", total=BUCKETS, unit="buckets") as task:
        step = max(BUCKETS // (4 * cluster.cpus), 1)
        ranges = [range(i, min(i + step, BUCKETS)) for i in range(0, BUCKETS, step)]
        for _, done in cluster.run(PartFolder.reduce, ((job, paths, some) for some in ranges)):
            task.advance(done)
    return paths
