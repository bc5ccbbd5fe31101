"""Output of the command line: data on standard output, messages on standard error.

Messages are coloured only on a terminal, and never if ``NO_COLOR`` is set. Tables fit the terminal,
80 columns where there is none. With ``--log-file``, messages go there too.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import typer

from prunedbpe.cli import layout
from prunedbpe.cli.glossary import GLOSSARY

_COLOURS = {"error": "red", "warning": "yellow", "hint": "cyan"}
_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING}

messages = logging.getLogger("prunedbpe.messages")
"""What was shown on standard error; only ``--log-file`` reads it."""
messages.propagate = False
messages.setLevel(logging.INFO)
messages.addHandler(logging.NullHandler())  # without one, Python prints warnings itself


@dataclass
class Look:
    """How the running command shows its results.

    Attributes:
        wide: Whether a table may be wider than the terminal.
        verbose: Whether log records below a warning are shown.
        json: Whether a program reads the result.
        hinted: Columns that a hint has named as left out.
    """

    wide: bool = False
    verbose: bool = False
    json: bool = False
    hinted: set[tuple[str, ...]] = field(default_factory=set)


look = Look()


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
    level = _LEVELS.get(kind, logging.INFO)
    messages.log(level, "%s", text if kind in _LEVELS else f"{kind}: {text}")
    _write_message(f"{label} {text}")


def info(text: str) -> None:
    """Write a plain line to standard error."""
    if text:
        messages.info("%s", text)
    _write_message(text)


def _write_message(text: str) -> None:
    # Not through click: a progress bar replaces sys.stderr while it is drawn.
    sys.stderr.write(f"{text}\n")


def width() -> int | None:
    """Columns a table may take; ``None`` with ``--wide``."""
    return None if look.wide else shutil.get_terminal_size().columns


def info_table(facts: layout.Facts) -> None:
    """Write rows of a name and a value to standard error."""
    for line in layout.lay_out_facts(facts, width()):
        info(line)


def print_facts(facts: layout.Facts) -> None:
    """Write rows of a name and a value to standard output."""
    for line in layout.lay_out_facts(facts, width()):
        print_line(line)


def explain(names: Iterable[str]) -> None:
    """Say on standard error what names in a table or summary mean, as far as they need it."""
    lines = [
        line
        for name in dict.fromkeys(names)
        if name in GLOSSARY
        for line in layout.wrap(f"{name}: {GLOSSARY[name]}", width())
    ]
    if lines:
        sys.stdout.flush()  # the table comes first
        info("")
    for line in lines:
        info(line)


def print_line(text: str = "") -> None:
    """Write a line of data to standard output."""
    sys.stdout.write(f"{text}\n")


def print_table(
    rows: Sequence[Sequence[str]],
    *,
    right: Iterable[int] = (),
    indent: str = "",
    optional: Iterable[int] = (),
) -> list[str]:
    """Write aligned rows to standard output.

    Args:
        rows: The head, and the rows.
        right: Columns that are aligned to the right.
        indent: What every line begins with.
        optional: Columns to leave out, in this order, if the table is too wide; ``--wide`` shows
            them.

    Returns:
        The titles of the columns that are shown.
    """
    room = width()
    room = None if room is None else room - len(indent)
    lines, left_out = layout.lay_out(rows, room, right=right, optional=optional)
    for line in lines:
        print_line(f"{indent}{line}")
    if left_out and tuple(left_out) not in look.hinted:
        look.hinted.add(tuple(left_out))
        sys.stdout.flush()
        hint(f"--wide also shows {', '.join(left_out)}")
    return [title for title in rows[0] if title not in left_out]


def print_json(value: Any) -> None:
    """Write a value as indented JSON to standard output."""
    print_line(json.dumps(value, ensure_ascii=False, indent=2))


def align(rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> list[str]:
    """Lay out a table whatever its width, see :func:`prunedbpe.cli.layout.align`."""
    return layout.align(rows, right=right)


class MessageHandler(logging.Handler):
    """Shows the log records of the library as messages."""

    def emit(self, record: logging.LogRecord) -> None:
        """Show one record; those below a warning with ``--verbose``."""
        if record.levelno >= logging.ERROR:
            error(record.getMessage())
        elif record.levelno >= logging.WARNING:
            warning(record.getMessage())
        else:
            if look.verbose:
                _write_message(record.getMessage())
            messages.info("%s", record.getMessage())
