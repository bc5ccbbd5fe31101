"""Output of the command line: data on standard output, messages on standard error.

Messages are coloured only on a terminal, and never if ``NO_COLOR`` is set.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

_COLOURS = {"error": "red", "warning": "yellow", "hint": "cyan"}


class Interrupted(Exception):  # noqa: N818 - not an error: the user asked for it
    """Ctrl-C, with a hint on how to resume."""


@contextmanager
def on_interrupt(hint: str) -> Iterator[None]:
    """Show ``hint`` if the user presses Ctrl-C inside the block."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(hint) from None


def error(text: str) -> None:
    """Write ``error: text`` to standard error."""
    _message("error", text)


def warning(text: str) -> None:
    """Write ``warning: text`` to standard error."""
    _message("warning", text)


def hint(text: str) -> None:
    """Write ``hint: text`` to standard error."""
    _message("hint", text)


def _message(kind: str, text: str) -> None:
    label = f"{kind}:"
    if sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
        label = typer.style(label, fg=_COLOURS[kind], bold=True)
    info(f"{label} {text}")


def info(text: str) -> None:
    """Write a plain line to standard error."""
    # Not through click: a progress bar replaces sys.stderr while it is drawn.
    sys.stderr.write(f"{text}\n")


def info_table(rows: Sequence[Sequence[str]]) -> None:
    """Write aligned rows to standard error."""
    for line in align(rows):
        info(line)


def print_line(text: str = "") -> None:
    """Write a line of data to standard output."""
    sys.stdout.write(f"{text}\n")


def print_table(
    rows: Sequence[Sequence[str]], *, right: Iterable[int] = (), indent: str = ""
) -> None:
    """Write aligned rows to standard output; ``right`` lists the right-aligned columns."""
    for line in align(rows, right=right):
        print_line(f"{indent}{line}")


def print_json(value: Any) -> None:
    """Write a value as indented JSON to standard output."""
    print_line(json.dumps(value, ensure_ascii=False, indent=2))


def align(rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> list[str]:
    """Lay out a table by the width of its cells in a terminal.

    >>> align([("a", "1"), ("中文", "20")], right=[1])
    ['a      1', '中文  20']
    """
    from rich.cells import cell_len  # a Chinese character takes two columns, an accent none

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    right = set(right)
    lines = []
    for row in rows:
        cells = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            padding = " " * (width - cell_len(cell))
            cells.append(padding + cell if column in right else cell + padding)
        lines.append("  ".join(cells).rstrip())
    return lines


class MessageHandler(logging.Handler):
    """Shows the log records of the library as messages."""

    def emit(self, record: logging.LogRecord) -> None:
        """Show one record."""
        show = error if record.levelno >= logging.ERROR else warning
        show(record.getMessage())
