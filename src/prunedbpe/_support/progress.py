"""Progress reporting: a bar on a terminal, JSON lines for programs, or silence.

A stage opens one task and advances it::

    with progress.task("Counting", total=corpus.size, unit="bytes") as task:
        task.advance(len(batch.data))
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, TextIO


class Task(Protocol):
    """A running task."""

    def advance(self, amount: int) -> None:
        """Report ``amount`` more units as done."""


class Progress(Protocol):
    """A progress reporter."""

    def task(self, name: str, *, total: int | None, unit: str) -> AbstractContextManager[Task]:
        """Open a task of ``total`` units, ``None`` if unknown; ``unit`` is ``bytes`` or a noun."""


class _SilentTask:
    def advance(self, amount: int) -> None:
        pass


class SilentProgress:
    """Reports nothing."""

    @contextmanager
    def task(self, name: str, *, total: int | None, unit: str) -> Iterator[Task]:
        """Open a task without output."""
        yield _SilentTask()


SILENT = SilentProgress()


class _JsonTask:
    def __init__(self, name: str, total: int | None, unit: str, stream: TextIO) -> None:
        self._event = {"task": name, "unit": unit, "total": total}
        self._stream = stream
        self._done = 0
        self._started = self._reported = time.monotonic()

    def advance(self, amount: int) -> None:
        self._done += amount
        if time.monotonic() - self._reported >= 1.0:
            self.report(finished=False)

    def report(self, *, finished: bool) -> None:
        self._reported = time.monotonic()
        seconds = round(self._reported - self._started, 3)
        event = {**self._event, "done": self._done, "seconds": seconds, "finished": finished}
        self._stream.write(json.dumps(event) + "\n")
        self._stream.flush()


class JsonProgress:
    """Writes JSON lines: at most one per second for each task, and one at its end.

    ``finished`` is true only in the last line of a task that succeeded.
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


class BarProgress:
    """Draws a bar with amount, speed and remaining time on standard error."""

    @contextmanager
    def task(self, name: str, *, total: int | None, unit: str) -> Iterator[Task]:
        """Open a task shown as a bar."""
        from rich import progress as rich_progress
        from rich.console import Console

        amount: list[rich_progress.ProgressColumn]
        if unit == "bytes":
            amount = [rich_progress.DownloadColumn(), rich_progress.TransferSpeedColumn()]
        else:
            amount = [rich_progress.MofNCompleteColumn(), rich_progress.TextColumn(unit)]
        with rich_progress.Progress(
            rich_progress.TextColumn("{task.description:<12}"),
            rich_progress.BarColumn(),
            *amount,
            rich_progress.TimeElapsedColumn(),
            rich_progress.TimeRemainingColumn(),
            console=Console(stderr=True),
        ) as bar:
            shown = bar.add_task(name, total=total)

            class _BarTask:
                def advance(self, amount: int) -> None:
                    bar.advance(shown, amount)

            yield _BarTask()


def default_progress(*, quiet: bool = False) -> Progress:
    """Return a bar if standard error is a terminal, silence otherwise."""
    return SILENT if quiet or not sys.stderr.isatty() else BarProgress()
