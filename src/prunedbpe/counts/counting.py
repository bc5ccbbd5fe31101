"""From a corpus to its chunk counts: native, the same table for any number of threads."""

from __future__ import annotations

from prunedbpe import _core
from prunedbpe._support.progress import SILENT, Progress
from prunedbpe._support.threads import thread_count, worker_count
from prunedbpe.corpus import Corpus, CorpusInput, CorpusReport, DocumentBatch, Shard, open_corpus
from prunedbpe.corpus.batches import normalized
from prunedbpe.counts.chunk_counts import ChunkCounts
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer


class BatchCounter:
    """Counts the chunks of document batches; one owner.

    Args:
        pretokenizer: What cuts the documents.
        threads: One per core by default.
    """

    def __init__(self, pretokenizer: Pretokenizer, threads: int | None = None) -> None:
        self._pretokenizer = pretokenizer
        self._threads = thread_count(threads)
        self.restart()

    def restart(self) -> None:
        """Forget everything."""
        self._native = _core.ChunkCounter(self._threads)
        self.documents = 0

    @property
    def position(self) -> int:
        """Bytes of all documents counted so far."""
        return int(self._native.position)

    def add(self, batch: DocumentBatch) -> None:
        """Count a batch; it follows what came before."""
        self.documents += len(batch)
        if self._pretokenizer.normalization:
            batch = normalized(batch)
        if self._pretokenizer.is_native:
            self._native.add_documents(self._pretokenizer.name, batch.data, batch.spans)
            return
        for begin, end in batch.spans.tolist():
            document = batch.data[begin:end]
            self._native.add_chunks(document, self._pretokenizer.chunk_ends(document))

    def finish(self, report: CorpusReport, shard: Shard | None = None) -> ChunkCounts:
        """The table of what was counted; the counter starts again from nothing."""
        data, offsets, counts, first_positions = self._native.finish()
        self.documents = 0
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
        threads: How many threads count; one per core by default.
        progress: Who watches.

    >>> table = count(iter(["to be or not to be"]))
    >>> dict(table.items())
    {b'to': 1, b' be': 2, b' or': 1, b' not': 1, b' to': 1}
    """
    corpus = open_corpus(corpus)
    counter = BatchCounter(find_pretokenizer(pretokenizer), threads)
    with progress.task("Counting", total=corpus.size, unit="bytes") as task:
        for batch in corpus.batches(task, threads=worker_count(threads), forget=counter.restart):
            counter.add(batch)
    return counter.finish(corpus.report, corpus.shard)
