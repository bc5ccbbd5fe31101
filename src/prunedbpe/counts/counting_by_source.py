"""Counting by source: a corpus -> its chunk counts, divided by source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import get_args

import numpy as np

from prunedbpe._support.progress import SILENT, Progress
from prunedbpe._support.threads import worker_count
from prunedbpe.corpus import Corpus, CorpusInput, open_corpus
from prunedbpe.counts.counting import BatchCounter
from prunedbpe.counts.sources import SourceCounts, SourceKind
from prunedbpe.errors import SettingsError
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer

MOST_SOURCES = 64
"""A corpus of more files is grouped into at most this many sources of neighbouring files."""


def count_by_source(
    corpus: CorpusInput | Corpus,
    *,
    sources: SourceKind = "files",
    pretokenizer: str | Pretokenizer = "paper",
    threads: int | None = None,
    progress: Progress = SILENT,
) -> SourceCounts:
    """Count the unique chunks of every source of a corpus.

    Args:
        corpus: As for :func:`prunedbpe.count`.
        sources: What counts as one source.
        pretokenizer: As for :func:`prunedbpe.count`.
        threads: As for :func:`prunedbpe.count`.
        progress: As for :func:`prunedbpe.count`.

    >>> counted = count_by_source(iter(["to be", "or not to be"]))
    >>> counted.names, len(counted.total)
    (('<python>',), 5)
    """
    corpus = open_corpus(corpus)
    source_of = _grouping(corpus.sources, sources)
    counter = BatchCounter(find_pretokenizer(pretokenizer), threads)
    numbers: dict[str, int] = {}
    with progress.task("Counting", total=corpus.size, unit="bytes") as task:
        for batch in corpus.batches(task, threads=worker_count(threads)):
            number = numbers.setdefault(source_of(batch.source), len(numbers))
            counter.add(batch, np.full(len(batch), number, np.uint32))
    return counter.finish_by_source(list(numbers), sources, "", corpus.report, corpus.shard)


def _grouping(paths: Sequence[str], sources: SourceKind) -> Callable[[str], str]:
    """Return the function from a file to its source."""
    if sources not in get_args(SourceKind):
        raise SettingsError(
            f"sources={sources!r} is unknown", hint=f"give one of {get_args(SourceKind)}"
        )
    if sources == "corpus":
        return lambda path: "<corpus>"
    folder_of = {path: str(PurePath(path).parent) for path in paths}
    if sources == "files" and len(set(paths)) <= MOST_SOURCES:
        return lambda path: path
    if len(set(folder_of.values())) <= MOST_SOURCES and (
        sources == "folders" or len(set(folder_of.values())) > 1
    ):
        return lambda path: folder_of.get(path, path)
    # Too many folders as well: group runs of neighbouring files.
    order = {path: i for i, path in enumerate(dict.fromkeys(paths))}
    return lambda path: f"<part {order.get(path, 0) * MOST_SOURCES // len(order)}>"
