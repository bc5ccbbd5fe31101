"""Counting: a corpus -> its chunk counts, the same table for any number of threads."""

from __future__ import annotations

from prunedbpe import _core
from prunedbpe._support.progress import SILENT, Progress
from prunedbpe._support.threads import thread_count, worker_count
from prunedbpe.corpus import Corpus, CorpusInput, CorpusReport, DocumentBatch, Shard, open_corpus
from prunedbpe.counts.chunk_counts import ChunkCounts
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer


class BatchCounter:
    """Counts the chunks of document batches; not shared between threads.

    Args:
        pretokenizer: Cuts the documents.
        threads: Number of counting threads; one per core by default.
    """

    def __init__(self, pretokenizer: Pretokenizer, threads: int | None = None) -> None:
        self._pretokenizer = pretokenizer
        self._native = _core.ChunkCounter(thread_count(threads))

    def add(self, batch: DocumentBatch) -> None:
        """Count a batch that follows all earlier ones in the corpus."""
        if self._pretokenizer.normalization:
            batch = batch.normalized(self._pretokenizer.normalization)
        if self._pretokenizer.is_native:
            self._native.add_documents(self._pretokenizer.name, batch.data, batch.spans)
            return
        for begin, end in batch.spans.tolist():
            document = batch.data[begin:end]
            self._native.add_chunks(document, self._pretokenizer.chunk_ends(document))

    def finish(self, report: CorpusReport, shard: Shard | None = None) -> ChunkCounts:
        """Return the table of all batches since the last call."""
        data, offsets, counts, first_positions = self._native.finish()
        return ChunkCounts(
            data=data,
            offsets=offsets,
            counts=counts,
            first_positions=first_positions,
            pretokenizer=self._pretokenizer,
            corpus=report,
            shard=shard,
        )


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
