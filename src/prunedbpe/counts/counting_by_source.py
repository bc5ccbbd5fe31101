"""Counting by source: a corpus -> its chunk counts, divided by source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from prunedbpe._support.progress import ProgressLike, as_progress
from prunedbpe.corpus import Corpus, CorpusInput, open_corpus
from prunedbpe.counts.bounded import BoundedCount
from prunedbpe.counts.chunk_counts import check_min_chunk_count
from prunedbpe.counts.coverage import Coverage
from prunedbpe.counts.source_fields import FieldSources
from prunedbpe.counts.source_layout import FileSources
from prunedbpe.counts.sources import SourceCounts, SourceKind
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer


def count_by_source(
    corpus: CorpusInput | Corpus,
    *,
    sources: SourceKind = "files",
    pretokenizer: str | Pretokenizer = "paper",
    min_chunk_count: int = 1,
    threads: int | None = None,
    memory: str | int | None = None,
    folder: str | Path | None = None,
    save: Callable[[SourceCounts], None] | None = None,
    progress: ProgressLike = None,
) -> SourceCounts:
    """Count the unique chunks of every source of a corpus.

    Args:
        corpus: As for :func:`prunedbpe.count`.
        sources: What counts as one source. A corpus with a ``source_field`` is divided by that
            field instead of by files.
        pretokenizer: As for :func:`prunedbpe.count`.
        min_chunk_count: As for :func:`prunedbpe.count`; the count is that of all sources together.
        threads: As for :func:`prunedbpe.count`.
        memory: As for :func:`prunedbpe.count`.
        folder: Where a count that is killed leaves what it has done, for the next one to resume.
        save: Called with the result before the folder is removed.
        progress: As for :func:`prunedbpe.count`.

    Raises:
        CorpusError: A file cannot be read, or no document has the source field.
        SettingsError: The kind of source is unknown, or ``min_chunk_count`` does not apply.

    >>> counted = count_by_source(iter(["to be", "or not to be"]))
    >>> counted.names, len(counted.total)
    (('<python>',), 5)
    """
    progress = as_progress(progress)
    corpus = open_corpus(corpus)
    check_min_chunk_count(min_chunk_count, corpus.shard)
    # The plan is that of the whole corpus, so that all shards agree.
    sizes = {file["path"]: file["bytes"] for file in corpus.fingerprint()}
    field = _field_of(corpus, sources)
    layout = FileSources(sizes, sources) if field is None else FieldSources(field)
    with BoundedCount(
        corpus,
        find_pretokenizer(pretokenizer),
        threads=threads,
        memory=memory,
        folder=None if folder is None else Path(folder),
        layout=layout,
    ) as counter:
        counter.run(progress)
        names, note = layout.finish(counter)
        found = SourceCounts.from_blocks(
            counter.blocks(progress, min_chunk_count),
            names,
            kind=source_kind(corpus, sources),
            note=note,
            pretokenizer=counter.pretokenizer,
            corpus=counter.report,
            coverage=Coverage.of(corpus.shard, counter.text_bytes),
            min_chunk_count=min_chunk_count,
        )
        if save is not None:
            save(found)
        return found


def source_kind(corpus: Corpus, sources: SourceKind) -> str:
    """Return the :attr:`SourceCounts.kind` that counting a corpus will give.

    The field ``lang`` gives ``field:lang``.

    >>> source_kind(Corpus.from_texts(["to be"]), "files")
    'files'
    """
    field = _field_of(corpus, sources)
    return sources if field is None else f"field:{field}"


def _field_of(corpus: Corpus, sources: SourceKind) -> str | None:
    """Return the field that names the sources; folders and the whole corpus need none."""
    return corpus.options.source_field if sources == "files" else None
