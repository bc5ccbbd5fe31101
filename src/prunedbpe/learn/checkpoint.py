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

from prunedbpe.corpus import Corpus
from prunedbpe.count import ChunkCounts, SourceCounts
from prunedbpe.errors import RunMismatchError
from prunedbpe.files import read_json, write_json
from prunedbpe.learn.learner import Learner
from prunedbpe.learn.merges import MergeTable
from prunedbpe.pretokenize import Pretokenizer
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
            differences = _differences(found, settings)
            if differences:
                raise RunMismatchError(
                    f"{self.folder} holds another run: " + "; ".join(differences),
                    hint="give another run directory, or start this one over with --no-resume",
                )
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(self.settings_path, settings)

    def clear(self) -> None:
        """Forget what was computed; files of others in the folder stay."""
        for path in (self.settings_path, self.merges_path, self.counts_path):
            path.unlink(missing_ok=True)
        if self.sources_path.is_dir():
            for path in [self.sources_path / "sources.json", *self.sources_path.glob("*.parquet")]:
                path.unlink(missing_ok=True)

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

    def sources(self, count: Callable[[], SourceCounts]) -> SourceCounts:
        """The counts by source: loaded if they are there, counted and saved otherwise."""
        if (self.sources_path / "sources.json").exists():
            return SourceCounts.load(self.sources_path)
        sources = count()
        self.accept(sources.total)
        sources.save(self.sources_path)
        return sources

    def merges(self) -> MergeTable | None:
        """The merges of the last checkpoint."""
        return MergeTable.load(self.merges_path) if self.merges_path.exists() else None

    def save_merges(self, merges: MergeTable) -> None:
        """Write a checkpoint."""
        merges.save(self.merges_path)


class Checkpointer:
    """Saves a learner's merges every so often, and when it reaches chosen sizes.

    Args:
        run: Where to save.
        every_seconds: The interval.
        at: Merge counts at which to save as well.
    """

    def __init__(
        self, run: RunDirectory, *, every_seconds: float = 30.0, at: Collection[int] = ()
    ) -> None:
        self._run = run
        self._every_seconds = every_seconds
        self._at = sorted(at)
        self._saved_at = time.monotonic()
        self._saved_count = 0

    def __call__(self, learner: Learner) -> None:
        """Save if it is time."""
        reached = any(self._saved_count < size <= len(learner) for size in self._at)
        if reached or time.monotonic() - self._saved_at >= self._every_seconds:
            self.save(learner.merges)

    def save(self, merges: MergeTable) -> None:
        """Save now."""
        self._run.save_merges(merges)
        self._saved_at = time.monotonic()
        self._saved_count = len(merges)


def describe_run(corpus: Corpus, pretokenizer: Pretokenizer) -> Settings:
    """Everything that decides the counts of a run."""
    options = corpus.options
    return {
        "corpus": corpus.fingerprint(),
        "text_field": options.text_field,
        "normalize": options.normalize,
        "pretokenizer": pretokenizer.describe(),
    }


def _differences(found: Settings, wanted: Settings) -> list[str]:
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
