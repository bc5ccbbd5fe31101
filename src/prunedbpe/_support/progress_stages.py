"""Stages: tasks of one name in, one account of amount, rate and time out.

A procedure may open the same task many times: learning goes on whenever the budget is not full. A
stage adds these tasks up, so that a reporter shows it once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prunedbpe._support.progress import Progress, Task
from prunedbpe._support.sizes import format_size

_logger = logging.getLogger("prunedbpe")


@dataclass
class Stage:
    """What is known of a stage, over all its tasks.

    Attributes:
        name: Such as ``Counting``.
        unit: ``bytes`` or a noun.
        total: Units of all tasks opened so far; ``None`` if unknown.
        done: Units done.
        text_bytes: Text that came out of them.
        seconds: Time of the tasks that have ended.
    """

    name: str
    unit: str
    total: int | None = 0
    done: int = 0
    text_bytes: int = 0
    seconds: float = 0.0
    _begun: float | None = None

    def begin(self, total: int | None) -> None:
        """Open one more task."""
        self.total = None if self.total is None or total is None else self.total + total
        self._begun = time.monotonic()

    def end(self) -> None:
        """Close the task."""
        self.seconds, self._begun = self.elapsed, None

    @property
    def elapsed(self) -> float:
        """Seconds so far, without the pauses between tasks."""
        return self.seconds + (0.0 if self._begun is None else time.monotonic() - self._begun)

    @property
    def share(self) -> float | None:
        """The share that is done; ``None`` if the total is unknown."""
        return min(self.done / self.total, 1.0) if self.total else None

    @property
    def seconds_left(self) -> float | None:
        """Time until the end, if it goes on at this rate."""
        share = self.share
        return self.elapsed * (1 - share) / share if share else None

    @property
    def amount(self) -> str:
        """What is done: text, not compressed bytes.

        >>> Stage("Counting", "bytes", total=10**9, done=3 * 10**8, text_bytes=12 * 10**8).amount
        '1.2 GB of text'
        >>> Stage("Learning", "merges", total=15740, done=3400).amount
        '3,400 of 15,740 merges'
        """
        if self.unit == "bytes":
            of_text = f"{format_size(self.text_bytes)} of text"
            return of_text if self.text_bytes else format_size(self.done)
        total = "" if self.total is None else f" of {self.total:,}"
        return f"{self.done:,}{total} {self.unit}"

    @property
    def rate(self) -> str:
        """Amount per second; empty in the first moment."""
        elapsed = self.elapsed
        if elapsed < 0.01 or not self.done:
            return ""
        if self.unit == "bytes":
            return f"{format_size(int((self.text_bytes or self.done) / elapsed))}/s"
        return f"{self.done / elapsed:,.0f}/s"


def format_seconds(seconds: float) -> str:
    """Write a time with two or three digits; whole seconds stay whole.

    >>> [format_seconds(s) for s in (0.04, 3.14, 7, 75, 5000, 100_000)]
    ['0.04 s', '3.1 s', '7 s', '75 s', '83 min', '27.8 h']
    """
    if seconds < 120:
        digits = 0 if isinstance(seconds, int) or seconds >= 10 else 1 if seconds >= 1 else 2
        return f"{seconds:.{digits}f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


class StagedProgress:
    """A reporter that shows stages; a subclass says how.

    Attributes:
        stages: By name, in order of appearance.
    """

    def __init__(self) -> None:
        self.stages: dict[str, Stage] = {}

    @contextmanager
    def task(self, name: str, *, total: int | None, unit: str) -> Iterator[Task]:
        """Open a task of a new stage, or one more of a stage that has been there."""
        stage = self.stages.setdefault(name, Stage(name, unit))
        stage.begin(total)
        self._show(stage)
        try:
            yield _StageTask(self, stage)
        finally:
            stage.end()
            self._end(stage)

    def _show(self, stage: Stage) -> None:
        """Show a stage that has begun or advanced."""

    def _end(self, stage: Stage) -> None:
        """A task of the stage has ended; another may follow."""


class _StageTask:
    def __init__(self, shown_by: StagedProgress, stage: Stage) -> None:
        self._shown_by = shown_by
        self._stage = stage

    def advance(self, amount: int, *, text_bytes: int = 0) -> None:
        self._stage.done += amount
        self._stage.text_bytes += text_bytes
        self._shown_by._show(self._stage)


class RecordedProgress(StagedProgress):
    """Passes everything on to another reporter, and keeps the stages for a summary.

    The end of every task is a log record of the level DEBUG.
    """

    def __init__(self, shown: Progress) -> None:
        super().__init__()
        self._shown = shown

    @contextmanager
    def task(self, name: str, *, total: int | None, unit: str) -> Iterator[Task]:
        """Open a task in both."""
        with (
            self._shown.task(name, total=total, unit=unit) as shown,
            super().task(name, total=total, unit=unit) as recorded,
        ):
            yield _Both(shown, recorded)

    def _end(self, stage: Stage) -> None:
        time_so_far = format_seconds(stage.elapsed)
        _logger.debug("%s: %s in %s, %s", stage.name, stage.amount, time_so_far, stage.rate)


class _Both:
    def __init__(self, first: Task, second: Task) -> None:
        self._tasks = first, second

    def advance(self, amount: int, *, text_bytes: int = 0) -> None:
        for task in self._tasks:
            task.advance(amount, text_bytes=text_bytes)
