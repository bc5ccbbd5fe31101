"""Counts by source: where in the corpus chunks occur, not only how often.

A source is a file, a folder, or the whole corpus, as the user asks. Automatic visibility asks how
far a token is spread over the sources; that takes one table for each. Together they are the table
of the whole corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import Literal, get_args

from prunedbpe._support.atomic_files import read_json, write_json
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
"""Files of a corpus of very many are put together to so many sources, neighbours first."""


@dataclass(frozen=True)
class SourceCounts:
    """One table for each run of documents of one source, in corpus order.

    A folder whose files are not neighbours in the corpus has several tables, under one name: the
    order must stay, because learning breaks ties by it.

    Attributes:
        names: The source of each table.
        tables: Their chunk counts.
        kind: What counted as one source.
    """

    names: tuple[str, ...]
    tables: tuple[ChunkCounts, ...]
    kind: SourceKind = "files"

    def __len__(self) -> int:
        """How many sources there are."""
        return len(set(self.names))

    @cached_property
    def total(self) -> ChunkCounts:
        """The table of the whole corpus, equal to counting it at once."""
        return reduce_counts(self.tables)

    def save(self, folder: str | Path) -> None:
        """Write one Parquet file for each source, and their names."""
        folder = Path(folder)
        for i, table in enumerate(self.tables):
            table.save(folder / f"{i:02}.parquet")
        write_json(folder / SOURCES_FILE, {"kind": self.kind, "names": list(self.names)})

    @classmethod
    def load(cls, folder: str | Path) -> SourceCounts:
        """Read what :meth:`save` wrote."""
        folder = Path(folder)
        found = read_json(folder / SOURCES_FILE)
        names = found.get("names") if isinstance(found, dict) else None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise FormatError(f"{folder / SOURCES_FILE}: not the names of sources")
        if found.get("kind") not in get_args(SourceKind):
            raise FormatError(f"{folder / SOURCES_FILE}: kind {found.get('kind')!r} is not known")
        tables = tuple(ChunkCounts.load(folder / f"{i:02}.parquet") for i in range(len(names)))
        return cls(tuple(names), tables, found["kind"])


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
        progress: Who watches.

    >>> counted = count_by_source(iter(["to be", "or not to be"]))
    >>> counted.names, len(counted.total)
    (('<python>',), 5)
    """
    corpus = open_corpus(corpus)
    cut = find_pretokenizer(pretokenizer)
    source_of = _grouping(corpus.sources, sources)
    names: list[str] = []
    tables: list[ChunkCounts] = []
    counter = BatchCounter(cut, threads)
    reported = CorpusReport()

    def finish_source() -> None:
        nonlocal reported
        if counter.position:
            # Sums so far, less those of the sources before it.
            now = corpus.report
            part = CorpusReport(
                documents=counter.documents,
                bytes=counter.position,
                files=now.files - reported.files,
                skipped=now.skipped[len(reported.skipped) :],
                replaced_documents=now.replaced_documents - reported.replaced_documents,
                skipped_lines=now.skipped_lines - reported.skipped_lines,
            )
            reported = now
            tables.append(counter.finish(part))
        else:
            names.pop()

    def forget() -> None:
        nonlocal reported
        names.clear()
        tables.clear()
        counter.restart()
        reported = CorpusReport()

    with progress.task("Counting", total=corpus.size, unit="bytes") as task:
        for batch in corpus.batches(task, threads=worker_count(threads), forget=forget):
            name = source_of(batch.source)
            if not names or names[-1] != name:
                if names:
                    finish_source()
                names.append(name)
            counter.add(batch)
    if names:
        finish_source()
    if not tables:  # nothing but empty files: one empty table says so
        return SourceCounts(("<empty>",), (counter.finish(corpus.report),), sources)
    return SourceCounts(tuple(names), tuple(tables), sources)


def _grouping(paths: Sequence[str], sources: SourceKind) -> Callable[[str], str]:
    """A function from a file to its source; files of one source are neighbours in the corpus."""
    if sources not in get_args(SourceKind):
        raise SettingsError(
            f"sources={sources!r} is not known", hint=f"give one of {get_args(SourceKind)}"
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
    # Too many even of folders: runs of neighbouring files.
    order = {path: i for i, path in enumerate(dict.fromkeys(paths))}
    return lambda path: f"<part {order.get(path, 0) * MOST_SOURCES // len(order)}>"
