"""A run directory: counts, merges and settings of one training, resumable after any stop.

=================== ========================================================================
``run.json``        which corpus, read and cut how; refuses a run of another one
``counts.parquet``  the chunk counts
``merges.parquet``  the merges learned so far, written at intervals and chosen sizes
``sources/``        the chunk counts of each source, where automatic visibility asked for them
=================== ========================================================================

Files appear whole or not at all, so a run killed at any moment goes on from its last checkpoint;
the learner is brought to that state by the merges themselves and ends as if never stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from prunedbpe.corpus import Corpus
from prunedbpe.count import ChunkCounts, SourceCounts
from prunedbpe.count.sources import SOURCES_FILE, SourceKind
from prunedbpe.errors import FormatError, RunMismatchError
from prunedbpe.files import naming, read_json, write_json
from prunedbpe.learn.learner import Learner
from prunedbpe.learn.merges import MergeTable
from prunedbpe.pretokenize import Pretokenizer
from prunedbpe.progress import SILENT, Progress
from prunedbpe.types import Settings

FORMAT = "prunedbpe run"
FORMAT_VERSION = 1


class RunDirectory:
    """Where one training keeps what it has computed."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @property
    def counts_path(self) -> Path:
        """The chunk counts."""
        return self.folder / "counts.parquet"

    @property
    def merges_path(self) -> Path:
        """The last checkpoint."""
        return self.folder / "merges.parquet"

    @property
    def settings_path(self) -> Path:
        """What the run is about."""
        return self.folder / "run.json"

    def claim(self, settings: Settings) -> None:
        """Make the directory one of this run, or refuse it if it belongs to another.

        Raises:
            RunMismatchError: It holds another corpus or other settings; the message names them.
        """
        settings = {"format": FORMAT, "version": FORMAT_VERSION, **settings}
        if self.settings_path.exists():
            found = read_json(self.settings_path)
            with naming(self.settings_path):
                differences = _differences(found, settings)
            if differences:
                raise RunMismatchError(
                    f"{self.folder} holds another run: " + "; ".join(differences),
                    hint="give another run directory, or start this one over with --no-resume",
                )
            return
        for path in (self.counts_path, self.merges_path):
            if path.exists():
                # Nobody knows of which corpus it is; to go on from it could be wrong silently.
                raise RunMismatchError(
                    f"{path} is there without {self.settings_path.name}, which tells its corpus",
                    hint="give another run directory, or start this one over with --no-resume",
                )
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.settings_path, settings)

    def clear(self) -> None:
        """Forget what was computed; files of others in the folder stay."""
        # The settings last: as long as anything computed is there, so is what tells its corpus.
        for path in (self.merges_path, self.counts_path, self.settings_path):
            path.unlink(missing_ok=True)
        self._forget_sources()

    def check_counted(self) -> None:
        """Refuse a directory that has no counts to go on from.

        Raises:
            FormatError: It holds no run, or one that was stopped while it was counting.
        """
        for path in (self.settings_path, self.counts_path):
            if not path.is_file():
                raise FormatError(
                    f"{self.folder}: no run to go on from, {path.name} is missing",
                    hint="give a run directory that `prunedbpe train --run-dir` has filled",
                )

    def counts(self, count: Callable[[], ChunkCounts]) -> ChunkCounts:
        """The counts of this run: loaded if they are there, counted and saved otherwise."""
        if self.counts_path.exists():
            return ChunkCounts.load(self.counts_path)
        counts = count()
        counts.save(self.counts_path)
        return counts

    def accept(self, counts: ChunkCounts) -> None:
        """Take counts made from text that has no identity of its own, such as an iterable.

        Raises:
            RunMismatchError: The run was made from other text.
        """
        if not self.counts_path.exists():
            counts.save(self.counts_path)
        elif ChunkCounts.load(self.counts_path).digest != counts.digest:
            raise RunMismatchError(
                f"{self.folder} holds another run: the text differs from the one counted there",
                hint="give another run directory, or start this one over with --no-resume",
            )

    @property
    def sources_path(self) -> Path:
        """The counts of each source, for automatic visibility."""
        return self.folder / "sources"

    def known_sources(self) -> SourceCounts | tuple[()]:
        """The counts by source, if the run was counted so."""
        known = (self.sources_path / SOURCES_FILE).exists()
        return SourceCounts.load(self.sources_path) if known else ()

    def sources(self, kind: SourceKind, count: Callable[[], SourceCounts]) -> SourceCounts:
        """The counts by source: loaded if they are there, counted and saved otherwise.

        Args:
            kind: What counts as one source; counts by another kind are replaced.
            count: Counts them.
        """
        known = self.known_sources()
        if known and known.kind == kind:
            return known
        sources = count()
        self.accept(sources.total)
        self._forget_sources()
        sources.save(self.sources_path)
        return sources

    def _forget_sources(self) -> None:
        if self.sources_path.is_dir():
            # The list first: without it the tables are not taken for those of the run.
            for path in [self.sources_path / SOURCES_FILE, *self.sources_path.glob("*.parquet")]:
                path.unlink(missing_ok=True)

    def pretokenizer(self) -> Pretokenizer:
        """What cut the corpus of this run."""
        return Pretokenizer.from_settings(read_json(self.settings_path)["pretokenizer"])

    def merges(self, counts: ChunkCounts | None = None) -> MergeTable | None:
        """The merges of the last checkpoint, checked against the counts where those are given.

        Raises:
            RunMismatchError: They were learned on other counts than those of the run.
        """
        if not self.merges_path.exists():
            return None
        merges = MergeTable.load(self.merges_path)
        if counts is not None and merges.counts_digest != counts.digest:
            raise RunMismatchError(
                f"{self.merges_path} was learned on other chunk counts than {self.counts_path}",
                hint="start the run over with --no-resume",
            )
        return merges

    def save_merges(self, merges: MergeTable) -> None:
        """Write a checkpoint."""
        merges.save(self.merges_path)


class Checkpointer:
    """Saves a learner's merges every so often, and when it reaches chosen sizes.

    Args:
        save: Writes a checkpoint.
        every_seconds: The interval.
        at: Merge counts at which to save as well.
    """

    def __init__(
        self,
        save: Callable[[MergeTable], None],
        *,
        every_seconds: float = 30.0,
        at: Collection[int] = (),
    ) -> None:
        self._save = save
        self._every_seconds = every_seconds
        self.at = sorted(at)
        self._saved_at = time.monotonic()
        self._saved_count = 0

    def __call__(self, learner: Learner) -> None:
        """Save if it is time."""
        reached = any(self._saved_count < size <= len(learner) for size in self.at)
        if reached or time.monotonic() - self._saved_at >= self._every_seconds:
            self.save(learner.merges)

    def save(self, merges: MergeTable) -> None:
        """Save now."""
        self._save(merges)
        self._saved_at = time.monotonic()
        self._saved_count = len(merges)


def learn_to_file(
    counts: ChunkCounts,
    merge_count: int,
    path: str | Path,
    *,
    resume: bool = True,
    threads: int | None = None,
    every_seconds: float = 30.0,
    progress: Progress = SILENT,
) -> MergeTable:
    """Learn merges into a file that is a checkpoint at any moment, and go on from what it holds.

    Args:
        counts: The corpus.
        merge_count: How many merges in all; a file that holds more stays as it is.
        path: Where the merges go, as Parquet.
        resume: Whether to go on from the file, or to start it over.
        threads: One per core by default.
        every_seconds: Interval between two checkpoints; an interruption writes one too.
        progress: Who watches.

    Returns:
        The merges the file holds now.

    Raises:
        RunMismatchError: The file holds merges learned on other counts.

    >>> import tempfile
    >>> counts = ChunkCounts.from_mapping({b"hat": 3, b"that": 2})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "merges.parquet")
    ...     [len(learn_to_file(counts, merge_count, path)) for merge_count in (1, 3, 2)]
    [1, 3, 3]
    """
    path = Path(path)
    known = MergeTable.load(path) if resume and path.exists() else None
    if known is not None:
        if known.counts_digest != counts.digest:
            raise RunMismatchError(
                f"{path} holds {len(known)} merges learned on other counts: of "
                f"{_corpus_in_words(known)} there, {_corpus_in_words(counts)} here",
                hint="give another output file, or start this one over with --no-resume",
            )
        if len(known) >= merge_count or known.exhausted:
            return known
    checkpointer = Checkpointer(lambda merges: merges.save(path), every_seconds=every_seconds)
    learner = Learner(counts, known, threads=threads, progress=progress, after_step=checkpointer)
    try:
        learner.reach(merge_count)
    finally:
        if known is None or len(learner) > len(known):
            checkpointer.save(learner.merges)
    return learner.merges


def _corpus_in_words(table: MergeTable | ChunkCounts) -> str:
    corpus = table.corpus
    return (
        f"{corpus.documents} documents with {corpus.bytes} bytes "
        f"cut by {table.pretokenizer.describe()}"
    )


def describe_run(corpus: Corpus, pretokenizer: Pretokenizer) -> Settings:
    """Everything that decides the counts of a run."""
    options = corpus.options
    return {
        "corpus": corpus.fingerprint(),
        "text_field": options.text_field,
        "normalize": options.normalize,
        "pretokenizer": pretokenizer.describe(),
    }


def _differences(found: Any, wanted: Settings) -> list[str]:
    if not isinstance(found, dict):
        raise FormatError("not the settings of a run")
    differences = []
    for name in sorted({*found, *wanted}):
        there, here = found.get(name), wanted.get(name)
        if there == here:
            continue
        if name == "corpus" and isinstance(there, list) and isinstance(here, list):
            differences.append(_corpus_difference(there, here))
        else:
            differences.append(f"{name} is {there!r} there and {here!r} here")
    return differences


def _corpus_difference(there: list[Settings], here: list[Settings]) -> str:
    for before, now in zip(there, here, strict=False):
        if before != now:
            return (
                f"its corpus has {before.get('path')} ({before.get('bytes')} bytes) "
                f"where this one has {now.get('path')} ({now.get('bytes')} bytes)"
            )
    return f"its corpus has {len(there)} files, this one {len(here)}"
