"""Layout: rows in, aligned lines that fit the width of a terminal out.

A table that is too wide loses its optional columns, then the ends of its longest texts. Facts, rows
of a name and a value, are wrapped instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Rows = Sequence[Sequence[str]]

Facts = Sequence[tuple[str, str | Sequence[str]]]
"""Names and values; a value that is a list is broken between its items only."""

_GAP = 2
_SHORTEST_TEXT = 8
"""Columns that a shortened text keeps at least."""


def text_width(text: str) -> int:
    """Return the columns a text takes: two for a Chinese character, none for an accent.

    >>> text_width("abc"), text_width("中文"), text_width("e\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def align(rows: Rows, *, right: Iterable[int] = ()) -> list[str]:
    """Lay out a table.

    >>> align([("a", "1"), ("中文", "20")], right=[1])
    ['a      1', '中文  20']
    """
    widths = _widths(rows)
    right = set(right)
    lines = []
    for row in rows:
        cells = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            padding = " " * (width - text_width(cell))
            cells.append(padding + cell if column in right else cell + padding)
        lines.append((" " * _GAP).join(cells).rstrip())
    return lines


def lay_out(
    rows: Rows, width: int | None, *, right: Iterable[int] = (), optional: Iterable[int] = ()
) -> tuple[list[str], list[str]]:
    """Lay out a table within a width.

    >>> lay_out([("a", "size", "note"), ("b", "10", "x")], 8, right=[1], optional=[2])
    (['a  size', 'b    10'], ['note'])

    Args:
        rows: The head, and the rows.
        width: Columns of the terminal; ``None`` for any number.
        right: Columns aligned to the right; they are never shortened.
        optional: Columns to leave out where the table is too wide, in this order.

    Returns:
        The lines, and the titles of the columns left out.
    """
    kept = list(range(len(rows[0]))) if rows else []
    left_out = []
    for column in optional:
        if width is None or _total([_widths(rows)[i] for i in kept]) <= width:
            break
        kept.remove(column)
        left_out.append(column)
    right = set(right)
    columns = [[row[i] for i in kept] for row in rows]
    if width is not None:
        columns = _shortened(columns, width, [n for n, i in enumerate(kept) if i not in right])
    lines = align(columns, right=[n for n, i in enumerate(kept) if i in right])
    return lines, [rows[0][column] for column in sorted(left_out)]


def lay_out_facts(facts: Facts, width: int | None) -> list[str]:
    """Lay out names and values; a long value is wrapped below its beginning.

    >>> lay_out_facts([("size", "ten and more"), ("b", "2")], 12)
    ['size  ten', '      and', '      more', 'b     2']
    >>> lay_out_facts([("x", ["a b", "c d"])], 8)
    ['x  a b', '   c d']
    """
    margin = max((text_width(name) for name, _ in facts), default=0) + _GAP
    lines = []
    for name, value in facts:
        room = None if width is None else max(width - margin, 1)
        parts = wrap(value, room) if isinstance(value, str) else _wrap_items(value, room)
        for number, part in enumerate(parts):
            head = name if number == 0 else ""
            lines.append(f"{head}{' ' * (margin - text_width(head))}{part}".rstrip())
    return lines


def wrap(text: str, width: int | None) -> list[str]:
    """Break a text between words; a longer word, such as a path, stays whole.

    >>> wrap("one two  three", 8)
    ['one two', 'three']
    """
    if width is None or text_width(text) <= width:
        return [text]
    return [line.rstrip() for line in _wrap(text.split(" "), " ", width)]


def _wrap_items(items: Sequence[str], width: int | None) -> list[str]:
    gap = " " * _GAP
    if width is None:
        return [gap.join(items)]
    return _wrap([shorten(item, width) for item in items], gap, width)


def _wrap(words: Sequence[str], gap: str, width: int) -> list[str]:
    lines = [""]
    for word in words:
        longer = f"{lines[-1]}{gap}{word}" if lines[-1] else word
        if lines[-1] and text_width(longer.rstrip()) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def shorten(text: str, width: int) -> str:
    """Cut a text to a width; an ellipsis shows that more follows.

    >>> shorten("information", 8), shorten("中文中文", 5)
    ('informa…', '中文…')
    """
    if text_width(text) <= width:
        return text
    while text and text_width(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def _widths(rows: Rows) -> list[int]:
    return [max(map(text_width, column)) for column in zip(*rows, strict=True)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _shortened(rows: list[list[str]], width: int, texts: Sequence[int]) -> list[list[str]]:
    """Cut the longest columns of text until the table fits, or all are short."""
    widths = _widths(rows)
    while _total(widths) > width and texts:
        longest = max(texts, key=lambda column: widths[column])
        if widths[longest] <= _SHORTEST_TEXT:
            break
        widths[longest] -= 1
    return [
        [shorten(cell, widths[n]) if n in texts else cell for n, cell in enumerate(row)]
        for row in rows
    ]
