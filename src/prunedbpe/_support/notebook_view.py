"""What a notebook shows of an object: a title, facts and tables, as HTML.

In: plain values. Out: HTML for ``_repr_html_``. Callers pass values and never HTML, and every value
is escaped here: tokens and names of files are text from outside. There are no colours but a grey
for lines, so text and background are those of the notebook, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from prunedbpe._support.json_values import shown

_LINE = "1px solid rgba(128, 128, 128, 0.4)"
_CELL = f"padding: 0.15em 0.7em; border: 0; border-bottom: {_LINE}"
_NUMBER = f"{_CELL}; text-align: right; white-space: nowrap"
_TEXT = f"{_CELL}; text-align: left; white-space: pre-wrap"  # runs of spaces are tokens too
_TABLE = "border-collapse: collapse; margin: 0.4em 0; background: transparent; color: inherit"


class Share(float):
    """A number to show in per cent."""


def view(title: str, facts: Mapping[str, object], *tables: str) -> str:
    """Return a title, a line of facts, and tables below.

    Args:
        title: What the object is.
        facts: Values by name; ``None`` leaves one out.
        tables: What :func:`view_table` returned.
    """
    line = " · ".join(
        f'<span style="white-space: nowrap">{escape(name)} <b>{_shown(value)}</b></span>'
        for name, value in facts.items()
        if value is not None
    )
    return f"<div><div><b>{escape(title)}</b></div><div>{line}</div>{''.join(tables)}</div>"


def view_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; wide ones scroll. Columns that begin with a number stand to the right.

    ``None`` is an empty cell; a column without any value is left out.

    >>> "<code>&#x27;&lt;b&gt;&#x27;</code>" in view_table("", ["token"], [[b"<b>"]])
    True
    """
    rows = list(rows)
    values = [[row[i] for row in rows if row[i] is not None] for i in range(len(columns))]
    shown_columns = [i for i in range(len(columns)) if values[i] or not rows]
    styles = [_NUMBER if found and _is_number(found[0]) else _TEXT for found in values]
    head = "".join(
        f'<th scope="col" style="{styles[i]}; white-space: normal">{escape(columns[i])}</th>'
        for i in shown_columns
    )
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{styles[i]}">{_shown(row[i])}</td>' for i in shown_columns)
        + "</tr>"
        for row in rows
    )
    style = "text-align: left; white-space: nowrap"
    title = f'<caption style="{style}">{escape(caption)}</caption>' if caption else ""
    return (
        f'<div style="overflow-x: auto"><table style="{_TABLE}">{title}'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def ends(count: int, most: int = 10) -> list[int]:
    """Return the indices of the first and the last of many rows.

    >>> ends(3), ends(100, most=4)
    ([0, 1, 2], [0, 1, 98, 99])
    """
    if count <= most:
        return list(range(count))
    return [*range(most - most // 2), *range(count - most // 2, count)]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _shown(value: object) -> str:
    """Return one value as HTML."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return f"<code>{escape(_token(value))}</code>"
    if isinstance(value, Share):
        return f"{value:.2%}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.3f}"
    # As repr, but without its quotes: control characters and changes of direction are escaped.
    return escape("".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value)))


def _token(spelled: bytes) -> str:
    """Return a token as Python spells it, shortened: as text if it is valid UTF-8."""
    try:
        return shown(spelled.decode())
    except UnicodeDecodeError:
        return shown(spelled)
