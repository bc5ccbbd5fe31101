"""What a verb says: messages on standard error, data on standard output.

Colour is used only where a person watches, and never against ``NO_COLOR``.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer

_COLOURS = {"error": "red", "warning": "yellow", "hint": "cyan"}

_GAP = 2


def say(kind: str, text: str) -> None:
    """Write ``kind: text`` to standard error; ``kind`` is ``error``, ``warning`` or ``hint``."""
    label = f"{kind}:"
    if sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
        label = typer.style(label, fg=_COLOURS[kind], bold=True)
    # Not through click: a progress bar that is being drawn takes over sys.stderr.
    sys.stderr.write(f"{label} {text}\n")


def tell(text: str) -> None:
    """Write a line of plain information to standard error."""
    sys.stderr.write(f"{text}\n")


def tell_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Write names and values, aligned, to standard error."""
    for line in aligned([(name, value) for name, value in facts]):
        tell(line)


def put(text: str) -> None:
    """Write a line of data to standard output."""
    sys.stdout.write(f"{text}\n")


def put_json(value: Any) -> None:
    """Write a value as indented JSON to standard output."""
    put(json.dumps(value, ensure_ascii=False, indent=2))


def aligned(rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> list[str]:
    """Lay out a table by the width its cells take in a terminal.

    >>> aligned([("a", "1"), ("中文", "20")], right=[1])
    ['a      1', '中文  20']

    Args:
        rows: The cells.
        right: Columns aligned to the right.
    """
    from rich.cells import cell_len  # Chinese takes two places, an accent none

    if not rows:
        return []
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    flush_right = set(right)
    lines = []
    for row in rows:
        cells = []
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            padding = " " * (width - cell_len(cell))
            cells.append(padding + cell if place in flush_right else cell + padding)
        lines.append((" " * _GAP).join(cells).rstrip())
    return lines


class MessageHandler(logging.Handler):
    """Shows what the library logs as ``warning: ...``."""

    def emit(self, record: logging.LogRecord) -> None:
        """Show one record."""
        say("error" if record.levelno >= logging.ERROR else "warning", record.getMessage())
