"""Counting: a corpus -> its chunk counts, the same table for any number of threads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prunedbpe import _core
from prunedbpe._support.progress import SILENT, Progress
from prunedbpe._support.threads import thread_count, worker_count
from prunedbpe.corpus import Corpus, CorpusInput, CorpusReport, DocumentBatch, Shard, open_corpus
from prunedbpe.counts.chunk_counts import ChunkCounts
from prunedbpe.counts.sources import SourceCounts
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer
from prunedbpe.types import UInt32Array


class BatchCounter:
    """Counts the chunks of document batches; not shared between threads.

    Args:
        pretokenizer: Cuts the documents.
        threads: Number of counting threads; one per core by default.
    """

    def __init__(self, pretokenizer: Pretokenizer, threads: int | None = None) -> None:
        self._pretokenizer = pretokenizer
        self._native = _core.ChunkCounter(thread_count(threads))

    def add(self, batch: DocumentBatch, sources: UInt32Array | None = None) -> None:
        """Count a batch that follows all earlier ones in the corpus.

        Args:
            batch: The documents.
            sources: The number of each document's source, if sources are counted apart.
        """
        if self._pretokenizer.normalization:
            batch = batch.normalized(self._pretokenizer.normalization)
        if self._pretokenizer.is_native:
            self._native.add_documents(self._pretokenizer.name, batch.data, batch.spans, sources)
            return
        for index, (begin, end) in enumerate(batch.spans.tolist()):
            document = batch.data[begin:end]
            source = 0 if sources is None else int(sources[index])
            self._native.add_chunks(document, self._pretokenizer.chunk_ends(document), source)

    def regroup(self, groups: Sequence[int]) -> None:
        """Join sources: what was counted for source ``i`` now belongs to ``groups[i]``."""
        self._native.regroup(np.array(groups, np.uint32))

    def finish(self, report: CorpusReport, shard: Shard | None = None) -> ChunkCounts:
        """Return the table of all batches since the last call."""
        return ChunkCounts(*self._native.finish(), self._pretokenizer, report, shard)

    def finish_by_source(
        self, names: Sequence[str], kind: str, note: str, report: CorpusReport, shard: Shard | None
    ) -> SourceCounts:
        """Return the table of all batches since the last call, and its division by source."""
        columns, offsets, sources, counts = self._native.finish_by_source()
        total = ChunkCounts(*columns, self._pretokenizer, report, shard)
        return SourceCounts(total, tuple(names), offsets, sources, counts, kind, note)


def count(
    corpus: CorpusInput | Corpus,
    *,
    pretokenizer: str | Pretokenizer = "paper",
    threads: int | None = None,
    progress: Progress = SILENT,
) -> ChunkCounts:
    """Count the unique chunks of a corpus.

    Args:
        corpus: Paths, an iterable of texts, or a :class:`~prunedbpe.corpus.Corpus`.
        pretokenizer: A built-in name, a regular expression, or a pretokenizer.
        threads: Number of counting threads; one per core by default.
        progress: Progress reporter; silent by default.

    Returns:
        The table; empty if the corpus holds no text.

    >>> table = count(iter(["to be or not to be"]))
    >>> dict(table.items())
    {b'to': 1, b' be': 2, b' or': 1, b' not': 1, b' to': 1}
    """
    corpus = open_corpus(corpus)
    counter = BatchCounter(find_pretokenizer(pretokenizer), threads)
    with progress.task("Counting", total=corpus.size, unit="bytes") as task:
        for batch in corpus.batches(task, threads=worker_count(threads)):
            counter.add(batch)
    return counter.finish(corpus.report, corpus.shard)
