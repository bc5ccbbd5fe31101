"""Encode the files of a corpus on a Ray cluster, one task each, as ``encode_files`` would."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from prunedbpe._support.progress import SILENT, ProgressLike, Task, as_progress
from prunedbpe._support.ray_tasks import ray_cluster
from prunedbpe._support.signatures import takes_options
from prunedbpe.corpus import Corpus
from prunedbpe.encoded.encoding import EncodingOptions
from prunedbpe.encoded.file_formats import EncodedReport, FileFormat
from prunedbpe.encoded.per_file import FileJob, encode_files
from prunedbpe.errors import CorpusError
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import Settings


@takes_options(EncodingOptions)
def encode_files_on_ray(
    tokenizer: Tokenizer,
    corpus: Corpus,
    folder: str | Path,
    format: FileFormat,
    *,
    address: str | None = None,
    threads: int | None = None,
    progress: ProgressLike = None,
    **options: Any,
) -> EncodedReport:
    """Encode every file of a corpus into a file of its own, and skip those already done.

    The outputs and the ledger have the bytes of :func:`~prunedbpe.encoded.encode_files`. All nodes
    need ``prunedbpe`` and see the files and the folder under the same paths.

    Args:
        tokenizer: Encodes the text.
        corpus: Files; not an iterable, standard input or a shard.
        folder: Where the outputs go.
        format: One of :data:`~prunedbpe.encoded.file_formats.FILE_FORMATS`.
        address: Of the cluster; by default that of the environment, or a new one on this machine.
        threads: CPUs, and so threads, for a file; 1 by default.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.
        **options: The other fields of :class:`EncodingOptions`.

    Raises:
        MissingExtraError: Ray is not installed.
        SettingsError: An option is wrong, or an output file is an input of the corpus.
    """
    progress = as_progress(progress)
    with ray_cluster(address, "encoding on a Ray cluster") as cluster:

        def run(
            jobs: Sequence[FileJob], tokenizer: Tokenizer, threads: int | None, task: Task
        ) -> Iterator[tuple[FileJob, Settings]]:
            shared = cluster.share(tokenizer)
            calls = (
                (replace(job, path=str(Path(job.path).absolute())), shared, threads or 1)
                for job in jobs
            )
            for number, known in cluster.run(_encode_file, calls, cpus=threads or 1):
                task.advance(jobs[number].expected["input"]["bytes"])
                yield jobs[number], known

        return encode_files(
            tokenizer,
            corpus,
            Path(folder).absolute(),
            format,
            threads=threads,
            progress=progress,
            run=run,
            **options,
        )


def _encode_file(job: FileJob, tokenizer: Tokenizer, threads: int) -> Settings:
    size, found = job.expected["input"]["bytes"], Corpus(job.path).size
    if found != size:
        raise CorpusError(
            f"{job.path}: has {found:,} bytes on a worker, but {size:,} where the job began",
            hint="all machines must see the same files, under the same path",
        )
    with SILENT.task("Encoding", total=None, unit="bytes") as task:
        return job.run(tokenizer, threads, task)
