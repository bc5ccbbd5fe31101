"""The study as one HTML page: no scripts, no external requests, light and dark, narrow and wide."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape

from prunedbpe.report.claims import Claim
from prunedbpe.report.figures import (
    Figure,
    growth_figures,
    growth_name,
    page_style,
    shortest_figures,
    shortest_names,
)
from prunedbpe.report.results import STANDARD, StudyResults
from prunedbpe.report.tables import (
    Table,
    baseline_table,
    growth_table,
    internal_table,
    length_table,
    qualitative_table,
    shortest_table,
    spot_check_table,
)


def as_page(results: StudyResults, claims: Sequence[Claim]) -> str:
    """The whole study as one self-contained page."""
    pruned = [policy for policy in results.policies if policy != STANDARD]
    sections = [
        ("claims", "Claims", _claims(claims)),
        ("lengths", "Encoded lengths", _table(length_table(results))),
        ("internal", "Internal tokens", _table(internal_table(results))),
        (
            "growth",
            "Pruning beside a larger vocabulary",
            "<p>What pruning saves at a size, beside what "
            f"{results.growth_tokens:,} more Standard tokens would save.</p>"
            + _figures("Figure 1", growth_figures(results), [growth_name(results), *pruned])
            + _folded(growth_table(results)),
        ),
        (
            "shortest",
            "The fewest visible tokens",
            "<p>The same visible vocabularies, encoded by rank and cut into as few tokens as "
            "possible: how much shorter than Standard BPE by rank.</p>"
            + _figures("Figure 2", shortest_figures(results), shortest_names(results))
            + _folded(shortest_table(results)),
        ),
        ("tokens", "Tokens that changed sides", _table(qualitative_table(results))),
    ]
    if results.baselines:
        sections.append(("baselines", "Baselines", _table(baseline_table(results))))
    if results.spot_checks:
        sections.append(("checks", "Spot checks", _table(spot_check_table(results))))
    sections.append(("how", "How this was made", _how(results)))
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title, _ in sections)
    body = "".join(
        f'<section aria-labelledby="{name}"><h2 id="{name}">{title}</h2>{content}</section>'
        for name, title, content in sections
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>Pruned BPE: the study</title>"
        f'<link rel="icon" href="data:,"><style>{page_style()}</style></head><body>'
        '<a class="skip" href="#content">To the content</a>'
        f"<header><h1>Pruned BPE: the paper’s study on {_names(results)}</h1>"
        f"<p>{_summary(results)}</p></header>"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>'
        f'<main id="content">{body}</main></body></html>\n'
    )


def _names(results: StudyResults) -> str:
    return " and ".join(escape(corpus.name) for corpus in results.corpora[:2])


def _summary(results: StudyResults) -> str:
    corpora = "; ".join(
        f"{escape(c.name)}: {c.documents:,} documents, {c.bytes:,} bytes" for c in results.corpora
    )
    sizes = ", ".join(f"{size:,}" for size in results.sizes)
    return f"{corpora}. Vocabulary sizes {sizes} ({escape(results.sizes_reason)})."


def _claims(claims: Sequence[Claim]) -> str:
    rows = "".join(
        f'<tr><th scope="row" class="long">{escape(claim.text)}</th>'
        f'<td class="{"held" if claim.verdict == "held" else "failed"}">{claim.verdict}</td>'
        f'<td class="long">{escape(claim.evidence)}</td></tr>'
        for claim in claims
    )
    return "<p>What the paper says, checked on these corpora.</p>" + _scroll(
        "Claims",
        '<table><caption class="unseen">Claims</caption><thead><tr>'
        '<th scope="col">Claim</th><th scope="col">Verdict</th><th scope="col">Holds in</th>'
        f"</tr></thead><tbody>{rows}</tbody></table>",
    )


def _table(table: Table) -> str:
    numeric = [
        any(isinstance(row[column], (int, Fraction)) for row in table.rows)
        for column in range(len(table.columns))
    ]
    head = "".join(
        f'<th scope="col"{_class(flush)}>{escape(column)}</th>'
        for column, flush in zip(table.columns, numeric, strict=True)
    )
    rows = []
    for row in table.rows:
        cells = [
            f'<th scope="row"{_class(flush)}>{escape(table.text(value))}</th>'
            if place < table.headings
            else f"<td{_class(flush)}>{escape(table.text(value))}</td>"
            for place, (value, flush) in enumerate(zip(row, numeric, strict=True))
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    # The caption would be as wide as the table and scroll with it; a paragraph stays in view.
    return f"<p>{escape(table.caption)}</p>" + _scroll(
        table.title,
        f'<table><caption class="unseen">{escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>",
    )


def _class(numeric: bool) -> str:
    return ' class="n"' if numeric else ""


def _scroll(label: str, content: str) -> str:
    """A wide table scrolls inside its own box, which the keyboard can reach."""
    named = f'role="region" tabindex="0" aria-label="{escape(label)}"'
    return f'<div class="scroll" {named}>{content}</div>'


def _folded(table: Table) -> str:
    return f"<details><summary>{escape(table.title)}</summary>{_table(table)}</details>"


def _figures(title: str, figures: Sequence[Figure], names: Sequence[str]) -> str:
    keys = "".join(
        '<li><svg viewBox="0 0 32 13" aria-hidden="true" focusable="false">'
        f'<rect class="bar s{number}" width="32" height="13"/></svg>{escape(name)}</li>'
        for number, name in enumerate(names, 1)
    )
    drawn = "".join(
        f"<figure>{figure.svg}<figcaption>{title}. {escape(figure.title)}</figcaption></figure>"
        for figure in figures
    )
    note = "<p>Bars stand in the order of the legend.</p>"
    legend = f'<ul class="legend" aria-label="Legend">{keys}</ul>'
    return f'{legend}{note}<div class="figures">{drawn}</div>'


def _how(results: StudyResults) -> str:
    facts = {**results.settings, "seconds": results.seconds}
    shown = "".join(
        f"<dt>{escape(str(name))}</dt><dd>{escape(_plain(value))}</dd>"
        for name, value in facts.items()
    )
    return f"<dl>{shown}</dl>"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(part)}" for name, part in value.items())
    if isinstance(value, list):
        return " ".join(str(part) for part in value)
    return str(value)
