"""Counting by source: a corpus -> its chunk counts, divided by source."""

from __future__ import annotations

from prunedbpe._support.progress import SILENT, Progress
from prunedbpe._support.threads import worker_count
from prunedbpe.corpus import Corpus, CorpusInput, open_corpus
from prunedbpe.counts.counting import BatchCounter
from prunedbpe.counts.source_fields import FieldSources
from prunedbpe.counts.source_layout import FileSources
from prunedbpe.counts.sources import SourceCounts, SourceKind
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer


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
        sources: What counts as one source. A corpus with a ``source_field`` is divided by that
            field instead of by files.
        pretokenizer: As for :func:`prunedbpe.count`.
        threads: As for :func:`prunedbpe.count`.
        progress: As for :func:`prunedbpe.count`.

    Raises:
        CorpusError: A file cannot be read, or no document has the source field.
        SettingsError: The kind of source is unknown.

    >>> counted = count_by_source(iter(["to be", "or not to be"]))
    >>> counted.names, len(counted.total)
    (('<python>',), 5)
    """
    corpus = open_corpus(corpus)
    # The plan is that of the whole corpus, so that all shards agree.
    sizes = {file["path"]: file["bytes"] for file in corpus.fingerprint()}
    field = _field_of(corpus, sources)
    layout = FileSources(sizes, sources) if field is None else FieldSources(field)
    counter = BatchCounter(find_pretokenizer(pretokenizer), threads)
    with progress.task("Counting", total=corpus.size, unit="bytes") as task:
        for batch in corpus.batches(
            task, threads=worker_count(threads), with_sources=field is not None
        ):
            counter.add(batch, layout.assign(batch, counter))
    names, note = layout.finish(counter)
    kind = source_kind(corpus, sources)
    return counter.finish_by_source(names, kind, note, corpus.report, corpus.shard)


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
