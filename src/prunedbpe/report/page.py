"""The study as one HTML page without scripts or external requests, for light and dark mode."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape

from prunedbpe.report.claims import Claim
from prunedbpe.report.figures import Figure, growth_figures, page_style, shortest_figures
from prunedbpe.report.results import StudyResults, percent
from prunedbpe.report.tables import (
    Table,
    Value,
    baseline_table,
    growth_table,
    internal_table,
    length_table,
    qualitative_table,
    shortest_table,
    spot_check_table,
)

_VERDICTS = {"held": "held", "not held": "failed"}


def as_page(results: StudyResults, claims: Sequence[Claim]) -> str:
    """Render the study as one self-contained page."""
    sections = [
        ("claims", "Claims", _claims(claims)),
        (
            "growth",
            "Pruning against a larger vocabulary",
            _figures(
                "Figure 1",
                "Reduction by pruning at each size, and by "
                f"{results.growth_tokens:,} more Standard tokens.",
                growth_figures(results),
            )
            + _folded(growth_table(results)),
        ),
        ("lengths", "Encoded lengths", _table(length_table(results))),
        ("internal", "Internal tokens", _table(internal_table(results))),
        (
            "shortest",
            "The fewest visible tokens",
            _figures(
                "Figure 2",
                "Reduction against Standard BPE by rank, of the same visible vocabularies encoded "
                "by rank and into the fewest tokens.",
                shortest_figures(results),
            )
            + _folded(shortest_table(results)),
        ),
    ]
    if results.baselines:
        sections.append(("baselines", "Baselines", _table(baseline_table(results))))
    sections.append(("tokens", "Tokens that changed", _table(qualitative_table(results))))
    if results.spot_checks:
        sections.append(("checks", "Spot checks", _table(spot_check_table(results))))
    sections.append(("how", "Setup", _how(results)))
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
        '<a class="skip" href="#content">Skip to content</a>'
        f"<header><h1>Pruned BPE: the paper’s study on {_names(results)}</h1>"
        f"<p>{_summary(results)}</p>{_headline(results)}</header>"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>'
        f'<main id="content">{body}</main></body></html>\n'
    )


def _names(results: StudyResults) -> str:
    return " and ".join(escape(corpus.name) for corpus in results.corpora[:2])


def _summary(results: StudyResults) -> str:
    corpora = "; ".join(
        f"{escape(c.name)}: {c.documents:,} documents, {c.bytes / 1e6:,.1f} MB"
        for c in results.corpora
    )
    sizes = ", ".join(f"{size:,}" for size in results.sizes)
    reason = "" if results.sizes_reason == "given" else f", {escape(results.sizes_reason)}"
    return f"{corpora}. Vocabulary sizes {sizes}{reason}."


def _headline(results: StudyResults) -> str:
    """Show the range of each reduction over all training corpora and sizes."""
    threshold, names = results.thresholds[-1], results.trainings
    own = [(name, size, name) for name in names for size in results.sizes]
    foreign = [(a, n, b) for a, b in (names[:2], names[1::-1]) for n in results.sizes]

    def saved(policy: str, places: Sequence[tuple[str, int, str]]) -> str:
        return _range([results.reduction(a, size, policy, b) for a, size, b in places])

    facts = [
        (f"{threshold}, on the training corpus", saved(threshold, own)),
        (f"{threshold}, on the other corpus", saved(threshold, foreign)),
    ]
    if "auto" in results.policies:
        facts.append(("auto, on the training corpus", saved("auto", own)))
    grown = [results.growth_reduction(*place) for place in own]
    facts.append((f"{results.growth_tokens:,} more Standard tokens", _range(grown)))
    shown = "".join(f"<div><dt>{escape(a)}</dt><dd>{escape(b)}</dd></div>" for a, b in facts)
    return (
        "<p>Reduction against Standard BPE, least to most over all sizes:</p>"
        f'<dl class="headline">{shown}</dl>'
    )


def _range(shares: Sequence[Fraction | None]) -> str:
    known = [share for share in shares if share is not None]
    if not known:
        return "–"
    ends = [percent(end, 2).replace("-", "−") for end in (min(known), max(known))]
    return " to ".join(dict.fromkeys(ends)) + " %"


def _claims(claims: Sequence[Claim]) -> str:
    rows = "".join(
        f'<tr><th scope="row" class="long">{escape(claim.text)}</th>'
        f'<td class="{_VERDICTS.get(claim.verdict, "open")}">{claim.verdict}</td>'
        f'<td class="long">{escape(claim.evidence)}</td></tr>'
        for claim in claims
    )
    held = sum(claim.verdict == "held" for claim in claims)
    checked = sum(claim.checked > 0 for claim in claims)
    return f"<p>{held} of {checked} claims hold on these corpora.</p>" + _scroll(
        "Claims",
        '<table><caption class="unseen">Claims</caption><thead><tr>'
        '<th scope="col">Claim</th><th scope="col">Verdict</th><th scope="col">Holds in</th>'
        f"</tr></thead><tbody>{rows}</tbody></table>",
    )


def _table(table: Table) -> str:
    numeric = table.numeric
    head = "".join(
        f'<th scope="col"{_class(flush)}>{escape(column)}</th>'
        for column, flush in zip(table.columns, numeric, strict=True)
    )
    rows = []
    group: list[Value] = []  # the headings that neighbouring rows share; a rule separates groups
    for row in table.rows:
        first = group != row[: table.headings - 1]
        group = row[: table.headings - 1]
        cells = [
            f'<th scope="row"{_class(flush)}>{_text(table, value)}</th>'
            if place < table.headings
            else f"<td{_class(flush)}>{_text(table, value)}</td>"
            for place, (value, flush) in enumerate(zip(row, numeric, strict=True))
        ]
        opening = '<tr class="first">' if first else "<tr>"
        rows.append(f"{opening}{''.join(cells)}</tr>")
    # A caption would be as wide as the table and scroll with it; a paragraph stays in view.
    return f"<p><strong>{escape(table.title)}.</strong> {escape(table.caption)}</p>" + _scroll(
        table.title,
        f'<table><caption class="unseen">{escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>",
    )


def _text(table: Table, value: Value) -> str:
    text = escape(table.text(value))
    return text.replace("-", "−") if isinstance(value, Fraction) else text


def _class(numeric: bool) -> str:
    return ' class="n"' if numeric else ""


def _scroll(label: str, content: str) -> str:
    """Put a wide table into a scrollable box that is reachable by keyboard."""
    named = f'role="region" tabindex="0" aria-label="{escape(label)}"'
    return f'<div class="scroll" {named}>{content}</div>'


def _folded(table: Table) -> str:
    return f"<details><summary>{escape(table.title)}</summary>{_table(table)}</details>"


def _figures(title: str, caption: str, figures: Sequence[Figure]) -> str:
    keys = "".join(
        '<li><svg viewBox="0 0 32 13" aria-hidden="true" focusable="false">'
        f'<rect class="bar {look}" x="1" y="1" width="30" height="11"/></svg>{escape(name)}</li>'
        for look, name in figures[0].legend
    )
    drawn = "".join(
        f"<figure><figcaption>{escape(figure.title)}</figcaption>{figure.svg}</figure>"
        for figure in figures
    )
    return (
        f"<p><strong>{title}.</strong> {escape(caption)} Bars are in legend order.</p>"
        f'<ul class="legend" aria-label="Legend">{keys}</ul><div class="figures">{drawn}</div>'
    )


def _how(results: StudyResults) -> str:
    total = f"{sum(results.seconds.values()):.0f}: {_plain(results.seconds)}"
    facts = {**results.settings, "seconds": total}
    command = facts.pop("command", None)
    shown = "".join(
        f"<dt>{escape(name.replace('_', ' '))}</dt><dd>{escape(_plain(value))}</dd>"
        for name, value in facts.items()
    )
    typed = f"<pre><code>{escape(str(command))}</code></pre>" if command else ""
    return f"<dl>{shown}</dl>{typed}"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(part)}" for name, part in value.items()).replace("_", " ")
    if isinstance(value, list):
        return " ".join(str(part) for part in value)
    return str(value)
