"""From a corpus to its chunk counts: native, the same table for any number of threads."""

from __future__ import annotations

import numpy as np

from prunedbpe import _core
from prunedbpe.corpus import Corpus, CorpusInput, open_corpus
from prunedbpe.count.table import ChunkCounts
from prunedbpe.pretokenize import Pretokenizer, find_pretokenizer
from prunedbpe.progress import SILENT, Progress


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
    cut = find_pretokenizer(pretokenizer)
    counter = _core.ChunkCounter(threads or 0)
    with progress.task("Counting", total=corpus.size, unit="bytes") as task:
        for batch in corpus.batches(task):
            if cut.is_native:
                counter.add_documents(cut.name, batch.data, batch.spans)
                continue
            for begin, end in batch.spans.tolist():
                document = batch.data[begin:end]
                counter.add_chunks(document, cut.chunk_ends(document))
    data, offsets, counts, first_positions = counter.finish()
    return ChunkCounts(
        data=np.asarray(data),
        offsets=offsets,
        counts=counts,
        first_positions=first_positions,
        pretokenizer=cut,
        corpus=corpus.report,
        shard=corpus.shard,
    )
