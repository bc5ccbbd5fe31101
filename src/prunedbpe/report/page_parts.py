"""Parts of the study's page: tables, figures, claims -> HTML."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape

from prunedbpe.report.claims import Claim
from prunedbpe.report.drawing import Drawing
from prunedbpe.report.tables import Table, Value

_STEPS = (Fraction(1, 400), Fraction(1, 200), Fraction(1, 100), Fraction(1, 50))
"""Gains at which a cell gets its next shade: 0.25, 0.5, 1 and 2 percent."""

_SHADES = (
    ("loss", "a loss"),
    ("gain-0", "under 0.25 %"),
    ("gain-1", "0.25 to 0.5 %"),
    ("gain-2", "0.5 to 1 %"),
    ("gain-3", "1 to 2 %"),
    ("gain-4", "2 % and more"),
)


def as_table(table: Table) -> str:
    """Format a table; gains have a shade beside their number."""
    numeric = table.numeric
    head = "".join(
        f'<th scope="col"{_classes(flush)}>{escape(column)}</th>'
        for column, flush in zip(table.columns, numeric, strict=True)
    )
    rows = []
    group: list[Value] = []  # the headings that neighbouring rows share; a rule separates groups
    for row in table.rows:
        first = group != row[: table.headings - 1]
        group = row[: table.headings - 1]
        cells = [
            f'<th scope="row"{_classes(flush)}>{_text(table, value)}</th>'
            if place < table.headings
            else f"<td{_classes(flush, _shade(table, place, value))}>{_text(table, value)}</td>"
            for place, (value, flush) in enumerate(zip(row, numeric, strict=True))
        ]
        opening = '<tr class="first">' if first else "<tr>"
        rows.append(f"{opening}{''.join(cells)}</tr>")
    # A caption would be as wide as the table and scroll with it; a paragraph stays in view.
    return (
        f"<p><strong>{escape(table.title)}.</strong> {escape(table.caption)}</p>"
        + (_scale() if table.gains else "")
        + scroll(
            table.title,
            f'<table><caption class="unseen">{escape(table.title)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>",
        )
    )


def folded(table: Table) -> str:
    """Format a table that opens on demand."""
    return f"<details><summary>{escape(table.title)}</summary>{as_table(table)}</details>"


def as_figures(identity: str, drawings: Sequence[Drawing], more: str = "") -> str:
    """Place drawings side by side, with more content beside them."""
    drawn = "".join(
        f"<figure>{drawing.as_inline_svg(f'{identity}-{number}')}</figure>"
        for number, drawing in enumerate(drawings, 1)
    )
    return f'<div class="figures">{drawn}{more}</div>'


def as_claims(claims: Sequence[Claim]) -> str:
    """List the claims with the share of cells they hold in; exceptions are folded."""
    checked = [claim for claim in claims if claim.checked]
    held = sum(not claim.failures for claim in checked)
    cells, good = sum(claim.checked for claim in checked), sum(claim.held for claim in checked)
    rate = f" ({100 * good // cells} %)" if cells else ""
    return (
        f"<p>{held} of {len(checked)} claims hold in every cell; all of them together in "
        f"{good:,} of {cells:,} cells{rate}.</p>"
        f'<ul class="claims">{"".join(_claim(claim) for claim in claims)}</ul>'
    )


def _claim(claim: Claim) -> str:
    kind = "none" if not claim.checked else "some" if claim.failures else "all"
    mark = {"all": "✓", "some": "◐", "none": "–"}[kind]
    counted = f" <small>{claim.held:,} of {claim.checked:,}</small>" if claim.checked else ""
    exceptions = ""
    if claim.failures:
        named = "".join(f"<li>{escape(place)}</li>" for place in claim.failures)
        count = len(claim.failures)
        word = "exception" if count == 1 else "exceptions"
        exceptions = f"<details><summary>{count:,} {word}</summary><ul>{named}</ul></details>"
    return (
        f'<li class="{kind}"><span class="mark" aria-hidden="true">{mark}</span>'
        f"<div><p>{escape(claim.text)}</p>"
        f'<p class="verdict"><strong>{claim.verdict}</strong>{counted}</p>{exceptions}</div></li>'
    )


def scroll(label: str, content: str) -> str:
    """Put a wide or long table into a scrollable box that is reachable by keyboard."""
    named = f'role="region" tabindex="0" aria-label="{escape(label)}"'
    return f'<div class="scroll" {named}>{content}</div>'


def _text(table: Table, value: Value) -> str:
    text = escape(table.text(value))
    return text if isinstance(value, str) else text.replace("-", "−")


def _classes(numeric: bool, shade: str = "") -> str:
    named = " ".join(filter(None, ("n" if numeric else "", shade)))
    return f' class="{named}"' if named else ""


def _shade(table: Table, place: int, value: Value) -> str:
    if place not in table.gains or not isinstance(value, Fraction):
        return ""
    return "loss" if value < 0 else f"gain-{sum(value >= step for step in _STEPS)}"


def _scale() -> str:
    keys = "".join(f'<li class="{name}">{text}</li>' for name, text in _SHADES)
    return f'<ul class="scale" aria-label="Shades of the gains">{keys}</ul>'
