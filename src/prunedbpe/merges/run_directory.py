"""A run directory: counts, merges and settings of one training, resumable after any stop.

=================== ========================================================================
``run.json``        which corpus, how it is read and cut; refuses a run of another one
``counts.parquet``  the chunk counts
``merges.parquet``  the merges learned so far, written at intervals and chosen sizes
``sources.parquet`` the chunk counts by source, if automatic visibility asked for them
``counting/``       what has been counted so far, until the counts are complete
``trained.json``    the vocabulary sizes that were trained here
``choice.json``     the visible tokens so far, while they are chosen for the shortest segmentation
=================== ========================================================================

Files appear whole or not at all, so a run killed at any moment resumes from its last checkpoint.
The merges themselves bring a new learner to that state; it ends as if it had never stopped.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

from prunedbpe._support.arguments import to_path
from prunedbpe._support.atomic_files import write_json
from prunedbpe._support.input_files import naming, read_json
from prunedbpe._support.json_values import JsonValue
from prunedbpe._support.progress import ProgressLike, as_progress
from prunedbpe._support.temporary_files import remove_leftovers
from prunedbpe.corpus import Corpus
from prunedbpe.counts import ChunkCounts, SourceCounts, count, count_by_source, count_to_file
from prunedbpe.counts.counting_by_source import source_kind
from prunedbpe.counts.sources import SourceKind
from prunedbpe.errors import FormatError, RunMismatchError
from prunedbpe.merges.learner import Checkpointer, Learner
from prunedbpe.merges.merge_table import MergeTable
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.types import Settings

FORMAT = "prunedbpe run"
FORMAT_VERSION = 1

_DEFAULTS = {"min_chunk_count": 1}
"""Settings that older runs do not name."""

_START_OVER = "use another run directory, or start this one over with --no-resume"


class RunDirectory:
    """Where one training keeps what it has computed."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = to_path(folder)

    @property
    def counts_path(self) -> Path:
        """The chunk counts."""
        return self.folder / "counts.parquet"

    @property
    def merges_path(self) -> Path:
        """The last checkpoint."""
        return self.folder / "merges.parquet"

    @property
    def choice_path(self) -> Path:
        """The state of a choice of visible tokens for the shortest segmentation."""
        return self.folder / "choice.json"

    @property
    def trained_path(self) -> Path:
        """The vocabulary sizes that were trained."""
        return self.folder / "trained.json"

    @property
    def settings_path(self) -> Path:
        """What the run is about."""
        return self.folder / "run.json"

    @property
    def sources_path(self) -> Path:
        """The counts by source, for automatic visibility."""
        return self.folder / "sources.parquet"

    @property
    def _computed(self) -> tuple[Path, ...]:
        return self.merges_path, self.sources_path, self.counts_path, self.trained_path

    def claim(
        self,
        corpus: Corpus,
        pretokenizer: Pretokenizer,
        *,
        min_chunk_count: int = 1,
        resume: bool = True,
    ) -> None:
        """Make the directory one of this run, or refuse it if it belongs to another.

        Args:
            corpus: The corpus of the run.
            pretokenizer: What cuts it.
            min_chunk_count: Chunks that occur fewer times are dropped.
            resume: Whether to keep what was computed, or to start over.

        Raises:
            RunMismatchError: It holds another corpus or other settings; the message names them.
        """
        if not resume:
            self.clear()
        for path in (*self._computed, self.choice_path, self.settings_path):
            remove_leftovers(path)  # a resumed run need not write again what was being written
        settings = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "corpus": corpus.fingerprint(),
            "text_field": corpus.options.text_field,
            "pretokenizer": pretokenizer.describe(),
            "min_chunk_count": min_chunk_count,
        }
        if self.settings_path.exists():
            found = read_json(self.settings_path)
            with naming(self.settings_path):
                differences = _differences(found, settings)
            if differences:
                raise RunMismatchError(
                    f"{self.folder} holds another run: " + "; ".join(differences), hint=_START_OVER
                )
            return
        for path in (self.counts_path, self.merges_path):
            if path.exists():
                # Its corpus is unknown; resuming from it could be silently wrong.
                raise RunMismatchError(
                    f"{path} exists without {self.settings_path.name}, which names its corpus",
                    hint=_START_OVER,
                )
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.settings_path, settings)

    def clear(self) -> None:
        """Remove what was computed; other files in the folder stay."""
        # The settings last: they name the corpus of anything computed that is still there.
        for path in (*self._computed, self.choice_path, self.settings_path):
            path.unlink(missing_ok=True)
        shutil.rmtree(self.counting_folder, ignore_errors=True)

    def check_counted(self) -> None:
        """Refuse a directory that has no counts to continue from.

        Raises:
            FormatError: It holds no run, or one that was stopped while counting.
        """
        for path in (self.settings_path, self.counts_path):
            if not path.is_file():
                raise FormatError(
                    f"{self.folder}: no run to continue, {path.name} is missing",
                    hint="use a run directory that `prunedbpe train --run-dir` has filled",
                )

    def pretokenizer(self) -> Pretokenizer:
        """What cut the corpus of this run."""
        return Pretokenizer.from_settings(read_json(self.settings_path)["pretokenizer"])

    @property
    def counting_folder(self) -> Path:
        """What a count has done so far."""
        return self.folder / "counting"

    def counts(self, corpus: Corpus, **how: Any) -> ChunkCounts:
        """Return the counts of this run: loaded if they exist, else counted and saved.

        Args:
            corpus: What is counted. Standard input and iterables are counted every time, because
                only their counts show that the text is the same.
            **how: Options of :func:`prunedbpe.count`.
        """
        if corpus.size is None:
            counts = count(corpus, **how)
            self._accept(counts)
            return counts
        if not self.counts_path.exists():
            counted = count_to_file(corpus, self.counts_path, folder=self.counting_folder, **how)
            if counted.table is not None:
                return counted.table
        return ChunkCounts.load(self.counts_path)

    def sources(self, corpus: Corpus, kind: SourceKind, **how: Any) -> SourceCounts:
        """Return the counts by source: loaded if they exist, else counted and saved.

        Args:
            corpus: As for :meth:`counts`.
            kind: What counts as one source; counts by another kind are replaced.
            **how: Options of :func:`prunedbpe.count`.
        """
        known = self.known_sources()
        if corpus.size is not None and known and known.kind == source_kind(corpus, kind):
            return known

        def save(sources: SourceCounts) -> None:
            self._accept(sources.total)
            if corpus.size is not None:
                sources.save(self.sources_path)

        folder = self.counting_folder
        return count_by_source(corpus, sources=kind, folder=folder, save=save, **how)

    def known_sources(self) -> SourceCounts | None:
        """The counts by source, if the run was counted that way."""
        return SourceCounts.load(self.sources_path) if self.sources_path.exists() else None

    def merges(self, counts: ChunkCounts | None = None) -> MergeTable | None:
        """The merges of the last checkpoint, checked against the counts if those are given.

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

    def trained_sizes(self) -> list[int]:
        """The vocabulary sizes that were trained here, in ascending order."""
        if not self.trained_path.exists():
            return []
        with naming(self.trained_path):
            sizes = JsonValue(read_json(self.trained_path))["vocab_sizes"]
            return sorted(size.integer() for size in sizes.items())

    def remember_size(self, vocab_size: int) -> None:
        """Note that a vocabulary of this size was trained."""
        sizes = self.trained_sizes()
        if vocab_size not in sizes:
            write_json(self.trained_path, {"vocab_sizes": sorted([*sizes, vocab_size])})

    def checkpointer(self, every_seconds: float, at: Collection[int] = ()) -> Checkpointer:
        """Return what saves merges here; see :class:`Checkpointer`."""
        return Checkpointer(
            lambda merges: merges.save(self.merges_path), every_seconds=every_seconds, at=at
        )

    def _accept(self, counts: ChunkCounts) -> None:
        if not self.counts_path.exists():
            counts.save(self.counts_path)
        elif ChunkCounts.load(self.counts_path).digest != counts.digest:
            raise RunMismatchError(
                f"{self.folder} holds another run: the text differs from the one counted there",
                hint=_START_OVER,
            )


def load_merges(path: str | Path) -> MergeTable:
    """Load merges from a run directory, or from a file that ``prunedbpe learn`` wrote.

    Raises:
        FormatError: The path holds neither.
    """
    path = to_path(path)
    file = RunDirectory(path).merges_path if path.is_dir() else path
    if not file.exists():
        raise FormatError(
            f"{file}: no such file",
            hint="give the --run-dir of prunedbpe train, or the output of prunedbpe learn",
        )
    return MergeTable.load(file)


def learn_to_file(
    counts: ChunkCounts,
    merge_count: int,
    path: str | Path,
    *,
    resume: bool = True,
    threads: int | None = None,
    every_seconds: float = 30.0,
    progress: ProgressLike = None,
) -> MergeTable:
    """Learn merges into a file that is a checkpoint at any moment, continuing from what it holds.

    Args:
        counts: The corpus.
        merge_count: How many merges in all; a file that holds more stays as it is.
        path: Where the merges go, as Parquet.
        resume: Whether to continue from the file, or to start it over.
        threads: One per core by default.
        every_seconds: Interval between two checkpoints; an interruption writes one too.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

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
    progress = as_progress(progress)
    path = to_path(path)
    known = MergeTable.load(path) if resume and path.exists() else None
    if known is not None and known.counts_digest != counts.digest:
        raise RunMismatchError(
            f"{path} holds {len(known)} merges learned on other counts: of "
            f"{_corpus_in_words(known)} there, {_corpus_in_words(counts)} here",
            hint="use another output file, or start this one over with --no-resume",
        )
    checkpoints = Checkpointer(lambda merges: merges.save(path), every_seconds=every_seconds)
    learner = Learner(counts, known, threads=threads, progress=progress, checkpoints=checkpoints)
    return learner.reach(merge_count)


def _corpus_in_words(table: MergeTable | ChunkCounts) -> str:
    corpus = table.corpus
    return (
        f"{corpus.documents} documents with {corpus.bytes} bytes "
        f"cut by {table.pretokenizer.describe()}"
    )


def _differences(found: Any, wanted: Settings) -> list[str]:
    if not isinstance(found, dict):
        raise FormatError("not the settings of a run")
    differences = []
    for name in sorted({*found, *wanted}):
        there, here = found.get(name, _DEFAULTS.get(name)), wanted.get(name)
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
