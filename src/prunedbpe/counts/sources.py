"""Counts by source: where in the corpus chunks occur, not only how often.

A source is a file, a folder, or the whole corpus. Automatic visibility compares sources, so each
gets a table of its own; the tables reduce to the table of the whole corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePath
from typing import Literal, get_args

from prunedbpe._support.atomic_files import naming, read_json, write_json
from prunedbpe._support.progress import SILENT, Progress
from prunedbpe._support.threads import worker_count
from prunedbpe.corpus import Corpus, CorpusInput, CorpusReport, open_corpus
from prunedbpe.counts.chunk_counts import ChunkCounts
from prunedbpe.counts.counting import BatchCounter
from prunedbpe.counts.reducing import reduce_counts
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer

SourceKind = Literal["files", "folders", "corpus"]
"""What counts as one source: each file, each folder, or the corpus as a whole."""

SOURCES_FILE = "sources.json"

MOST_SOURCES = 64
"""A corpus of more files is grouped into at most this many sources of neighbouring files."""


@dataclass(frozen=True)
class SourceCounts:
    """One table for each run of documents of one source, in corpus order.

    A folder whose files are not neighbours in the corpus has several tables under one name. The
    order must stay, because learning breaks ties by it.

    Attributes:
        names: The source of each table.
        tables: Their chunk counts; each reports only its documents and bytes.
        kind: What counted as one source.
        corpus: What was read of the whole corpus; by default, the sum over the tables.
    """

    names: tuple[str, ...]
    tables: tuple[ChunkCounts, ...]
    kind: SourceKind = "files"
    corpus: CorpusReport | None = None

    def __len__(self) -> int:
        """Return the number of sources."""
        return len(set(self.names))

    @cached_property
    def total(self) -> ChunkCounts:
        """The table of the whole corpus, equal to counting it at once."""
        total = reduce_counts(self.tables)
        return total if self.corpus is None else replace(total, corpus=self.corpus)

    def save(self, folder: str | Path) -> None:
        """Write one Parquet file for each table, and a JSON file with their names."""
        folder = Path(folder)
        for i, table in enumerate(self.tables):
            table.save(folder / f"{i:02}.parquet")
        corpus = None if self.corpus is None else self.corpus.as_settings()
        settings = {"kind": self.kind, "names": list(self.names), "corpus": corpus}
        write_json(folder / SOURCES_FILE, settings)

    @classmethod
    def load(cls, folder: str | Path) -> SourceCounts:
        """Read what :meth:`save` wrote.

        Raises:
            FormatError: A file is missing or damaged.
        """
        folder = Path(folder)
        found = read_json(folder / SOURCES_FILE)
        names = found.get("names") if isinstance(found, dict) else None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise FormatError(f"{folder / SOURCES_FILE}: not the names of sources")
        if found.get("kind") not in get_args(SourceKind):
            raise FormatError(f"{folder / SOURCES_FILE}: unknown kind {found.get('kind')!r}")
        tables = tuple(ChunkCounts.load(folder / f"{i:02}.parquet") for i in range(len(names)))
        with naming(folder / SOURCES_FILE):
            corpus = found["corpus"] and CorpusReport.from_settings(found["corpus"])
        return cls(tuple(names), tables, found["kind"], corpus)


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
    names: list[str] = []
    tables: list[ChunkCounts] = []
    part = CorpusReport()
    with progress.task("Counting", total=corpus.size, unit="bytes") as task:
        for batch in corpus.batches(task, threads=worker_count(threads)):
            name = source_of(batch.source)
            if names and names[-1] != name:
                tables.append(counter.finish(part))
                part = CorpusReport()
            if not names or names[-1] != name:
                names.append(name)
            counter.add(batch)
            part += CorpusReport(documents=len(batch), bytes=batch.text_bytes)
    tables.append(counter.finish(part))
    return SourceCounts(tuple(names or ["<empty>"]), tuple(tables), sources, corpus.report)


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
