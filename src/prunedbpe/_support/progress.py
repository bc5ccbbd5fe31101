"""Progress reporting: what a stage calls, and which reporter shows it.

A stage opens a task and advances it::

    with progress.task("Counting", total=corpus.size, unit="bytes") as task:
        task.advance(bytes_on_disk, text_bytes=len(batch.data))

Bars, lines of a log and bars of a notebook are in ``progress_views``.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TextIO

from prunedbpe.errors import SettingsError


class Task(Protocol):
    """A running task."""

    def advance(self, amount: int, *, text_bytes: int = 0) -> None:
        """Report ``amount`` more units as done.

        Args:
            amount: Units; a task that reads files counts their bytes on disk, compressed or not.
            text_bytes: How much text came out of them.
        """


class Progress(Protocol):
    """A progress reporter."""

    def task(self, name: str, *, total: int | None, unit: str) -> AbstractContextManager[Task]:
        """Open a task of ``total`` units, ``None`` if unknown; ``unit`` is ``bytes`` or a noun."""


ProgressLike = Progress | bool | None
"""``True`` is a bar, ``False`` is silence; ``None``, the default, is a bar in a notebook only."""


class _SilentTask:
    def advance(self, amount: int, *, text_bytes: int = 0) -> None:
        pass


class SilentProgress:
    """Reports nothing."""

    def __repr__(self) -> str:
        return "SILENT"

    @contextmanager
    def task(self, name: str, *, total: int | None, unit: str) -> Iterator[Task]:
        """Open a task without output."""
        yield _SilentTask()


SILENT = SilentProgress()


class _JsonTask:
    def __init__(self, name: str, total: int | None, unit: str, stream: TextIO) -> None:
        self._event = {"task": name, "unit": unit, "total": total}
        self._stream = stream
        self._done = self._text_bytes = 0
        self._started = self._reported = time.monotonic()

    def advance(self, amount: int, *, text_bytes: int = 0) -> None:
        self._done += amount
        self._text_bytes += text_bytes
        if time.monotonic() - self._reported >= 1.0:
            self.report(finished=False)

    def report(self, *, finished: bool) -> None:
        self._reported = time.monotonic()
        event: dict[str, Any] = {**self._event, "done": self._done}
        if self._event["unit"] == "bytes":
            event["text_bytes"] = self._text_bytes
        event |= {"seconds": round(self._reported - self._started, 3), "finished": finished}
        self._stream.write(json.dumps(event) + "\n")
        self._stream.flush()


class JsonProgress:
    """Writes JSON lines: at most one per second for each task, and one at its end.

    ``finished`` is true only in the last line of a task that succeeded. ``total`` and ``done`` of
    files are bytes on disk; ``text_bytes`` is the text in them.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    @contextmanager
    def task(self, name: str, *, total: int | None, unit: str) -> Iterator[Task]:
        """Open a task reported as JSON lines."""
        task = _JsonTask(name, total, unit, self._stream)
        try:
            yield task
        except BaseException:
            task.report(finished=False)
            raise
        task.report(finished=True)


def in_notebook() -> bool:
    """Whether this is the kernel of a Jupyter notebook, not a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")


def default_progress(*, quiet: bool = False) -> Progress:
    """Return what fits the place: a bar in a terminal or notebook, else a line every 30 s."""
    if quiet:
        return SILENT
    from prunedbpe._support import progress_views

    if in_notebook():
        return progress_views.NotebookProgress()
    if sys.stderr is not None and sys.stderr.isatty():
        return progress_views.BarProgress()
    return progress_views.LogProgress()


def as_progress(progress: ProgressLike) -> Progress:
    """Return the reporter that a caller means.

    >>> as_progress(False) is SILENT
    True

    Raises:
        SettingsError: It is no reporter.
    """
    if progress is None:
        return default_progress(quiet=not in_notebook())
    if isinstance(progress, bool):
        return default_progress(quiet=not progress)
    if not hasattr(progress, "task"):
        raise SettingsError(
            f"progress is {progress!r}", hint="give True, False, or an object with a method task"
        )
    return progress
