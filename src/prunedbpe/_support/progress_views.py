"""Three views of the stages of a run: a bar in a terminal, a bar in a notebook, lines in a log."""

from __future__ import annotations

import html
import math
import sys
import time
from typing import Any

from prunedbpe._support.progress_stages import Stage, StagedProgress, format_seconds

LOG_SECONDS = 30.0
"""Time between two lines of a log."""

_REDRAW_SECONDS = 0.2


class BarProgress(StagedProgress):
    """Draws a bar with amount, rate and remaining time on standard error.

    A bar goes away when its stage ends; a stage that goes on later continues its bar.
    """

    def __init__(self) -> None:
        super().__init__()
        self._live: Any = None
        self._shown: dict[str, Any] = {}

    def _show(self, stage: Stage) -> None:
        if self._live is None:
            self._live = _open_bars()
            self._live.start()
        if stage.name not in self._shown:
            self._shown[stage.name] = self._live.add_task(stage.name, **_texts(stage))
        # Unknown totals pulse.
        self._live.update(
            self._shown[stage.name], completed=stage.done, total=stage.total, **_texts(stage)
        )

    def _end(self, stage: Stage) -> None:
        self._live.remove_task(self._shown.pop(stage.name))
        if not self._shown:
            self._live.stop()
            self._live = None


def _open_bars() -> Any:
    from rich import progress
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=None),
        progress.TextColumn("{task.fields[share]}", justify="right"),
        progress.TextColumn("{task.fields[amount]}", justify="right"),
        progress.TextColumn("{task.fields[rate]}", justify="right"),
        progress.TextColumn("{task.fields[left]}", justify="right"),
        console=Console(stderr=True),
        expand=True,
        transient=True,
        refresh_per_second=5,
    )


def _texts(stage: Stage) -> dict[str, str]:
    share, left = stage.share, stage.seconds_left
    return {
        "share": "" if share is None else f"{share:.0%}",
        "amount": stage.amount,
        "rate": stage.rate,
        "left": f"{format_seconds(math.ceil(left))} left" if left else "",
    }


def describe(stage: Stage) -> str:
    """Say in one line how far a stage is.

    >>> describe(Stage("Reducing", "buckets", total=256, done=64, seconds=10.0))
    'Reducing: 25%, 64 of 256 buckets, 6/s, 30 s left'
    """
    return f"{stage.name}: " + ", ".join(filter(None, _texts(stage).values()))


class LogProgress(StagedProgress):
    """Writes a plain line to standard error every 30 s; nothing for a run that takes less."""

    def __init__(self, every_seconds: float = LOG_SECONDS) -> None:
        super().__init__()
        self._every_seconds = every_seconds
        self._written = time.monotonic()

    def _show(self, stage: Stage) -> None:
        now = time.monotonic()
        if now - self._written >= self._every_seconds:
            self._written = now
            sys.stderr.write(f"{describe(stage)}\n")
            sys.stderr.flush()


class NotebookProgress(StagedProgress):
    """Draws a bar below the cell of a notebook; each stage has one, which stays when it ends."""

    def __init__(self) -> None:
        super().__init__()
        self._handles: dict[str, Any] = {}
        self._drawn = 0.0

    def _show(self, stage: Stage) -> None:
        if stage.name in self._handles and time.monotonic() - self._drawn < _REDRAW_SECONDS:
            return
        self._draw(stage)

    def _end(self, stage: Stage) -> None:
        self._draw(stage)

    def _draw(self, stage: Stage) -> None:
        from IPython.display import display

        self._drawn = time.monotonic()
        bar = _NotebookBar(stage)
        if stage.name in self._handles:
            self._handles[stage.name].update(bar)
        else:
            self._handles[stage.name] = display(bar, display_id=True)


class _NotebookBar:
    """What a notebook shows; a front end without HTML shows the line."""

    def __init__(self, stage: Stage) -> None:
        self._text = describe(stage)
        self._share = stage.share

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        value = "" if self._share is None else f' value="{self._share:.4f}"'
        text = html.escape(self._text)
        return f'<progress max="1"{value} style="width: 16em"></progress> <code>{text}</code>'
