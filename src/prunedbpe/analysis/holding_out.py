"""Divide a corpus into text to learn from and text to measure on: every n-th document."""

from __future__ import annotations

from collections.abc import Iterator

from prunedbpe.corpus import Corpus
from prunedbpe.counts import ChunkCounts, count
from prunedbpe.pretokenizers import Pretokenizer


def hold_out(
    corpus: Corpus, every: int, pretokenizer: Pretokenizer, *, threads: int | None = None
) -> tuple[ChunkCounts, ChunkCounts] | None:
    """Count the documents to learn from, and those held out.

    Args:
        corpus: Documents that can be read several times.
        every: Hold out the n-th document of every n, the first time the n-th; 0 for none.
        pretokenizer: Cuts them.
        threads: One per core by default.

    Returns:
        Both counts; ``None`` if nothing can be held out, as from fewer documents.

    >>> learned, held_out = hold_out(Corpus.from_texts(["a", "b", "c"]), 2, Pretokenizer("paper"))
    >>> dict(learned.items()), dict(held_out.items())
    ({b'a': 1, b'c': 1}, {b'b': 1})
    """
    if every < 2 or any(file.is_stdin for file in corpus.files):
        return None
    held_out, learned = (
        count(_documents(corpus, every, part), pretokenizer=pretokenizer, threads=threads)
        for part in (True, False)
    )
    return (learned, held_out) if len(held_out) else None


def _documents(corpus: Corpus, every: int, held_out: bool) -> Iterator[str]:
    number = 0
    for batch in corpus.batches():
        for document in batch.documents():
            number += 1
            if (number % every == 0) == held_out:
                yield document.decode()
