"""The study as one HTML page without scripts or external requests, for light and dark mode."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from importlib.resources import files

from prunedbpe.report.claims import Claim
from prunedbpe.report.drawing import PALETTE
from prunedbpe.report.figures import (
    Reduction,
    gain_figures,
    growth_figures,
    mean_reduction,
    middle_size,
    opening_places,
    opening_policies,
    shortest_figures,
)
from prunedbpe.report.page_parts import as_claims, as_figures, as_table, folded
from prunedbpe.report.paper_figures import PaperFigures
from prunedbpe.report.results import AUTO, CHOSEN, StudyResults, percent
from prunedbpe.report.tables import (
    baseline_table,
    growth_table,
    internal_table,
    length_table,
    qualitative_table,
    shortest_table,
    spot_check_table,
)

_MISSING = "–"


def as_page(results: StudyResults, claims: Sequence[Claim]) -> str:
    """Render the study as one self-contained page."""
    paper = PaperFigures(results)
    sections = [("claims", "Claims", as_claims(claims))]
    if paper.comparable:
        sections.append(("paper", "Beside the paper", _beside(paper)))
    sections += [
        (
            "growth",
            "Pruning against a larger vocabulary",
            "<p><strong>Figure 1.</strong> Reduction by pruning at each size, and by "
            f"{results.growth_tokens:,} more Standard tokens (+{results.growth_tokens:,}).</p>"
            + as_figures("growth", growth_figures(results))
            + folded(growth_table(results)),
        ),
        ("lengths", "Encoded lengths", as_table(length_table(results))),
        ("internal", "Internal tokens", as_table(internal_table(results))),
        (
            "shortest",
            "The fewest visible tokens",
            "<p><strong>Figure 2.</strong> Reduction against Standard BPE by rank, of the same "
            "visible vocabularies encoded by rank (dashed) and into the fewest tokens.</p>"
            + as_figures("fewest", shortest_figures(results))
            + folded(shortest_table(results)),
        ),
    ]
    if results.baselines:
        sections.append(("baselines", "Baselines", as_table(baseline_table(results))))
    sections.append(("tokens", "Tokens that changed", as_table(qualitative_table(results))))
    if results.spot_checks:
        sections.append(("checks", "Spot checks", as_table(spot_check_table(results))))
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
        f"<header><h1>What pruning gains on {_names(results)}</h1>"
        f'<p class="lead">{_lead(results)}</p>'
        f"{as_figures('gain', gain_figures(results), _reading(results))}"
        f"<p>{_summary(results)}</p></header>"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>'
        f'<main id="content">{body}</main></body></html>\n'
    )


def page_style() -> str:
    """Return the style of the page, with the palette of the drawings."""
    light, dark = (
        " ".join(f"--{name}: {pair[scheme]};" for name, pair in PALETTE.items())
        for scheme in (0, 1)
    )
    rules = files("prunedbpe.report").joinpath("page.css").read_text(encoding="utf-8")
    in_the_dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    return f":root {{ {light} }}\n{in_the_dark}\n{rules}"


def _names(results: StudyResults) -> str:
    return " and ".join(escape(corpus.name) for corpus in results.corpora[:2])


def _lead(results: StudyResults) -> str:
    """Say in one sentence what is gained at the middle size, on own and on foreign text."""
    size = middle_size(results)
    threshold, *extra = opening_policies(results)

    def saved(policy: str) -> list[str]:
        def reduction(training: str, size: int, corpus: str) -> Fraction | None:
            if not results.has(training, size, policy, corpus):
                return None
            return results.reduction(training, size, policy, corpus)

        return _means(results, reduction)

    own, foreign = saved(threshold)
    parts = [
        f"With a vocabulary of {size:,}, <b>pruning at {escape(threshold)}</b> makes own text "
        f"{own} and foreign text {foreign}"
    ]
    spoken = {AUTO: "auto", CHOSEN: "shortest"}
    parts += [f"<b>{spoken[policy]}</b> {' and '.join(saved(policy))}" for policy in extra]
    grown = _means(results, results.growth_reduction)
    more = f"<b>{results.growth_tokens:,} more Standard tokens</b>"
    end = f"; {more} would make it {' and '.join(grown)} shorter" if _MISSING not in grown else ""
    return f"{', '.join(parts)} shorter{end}."


def _means(results: StudyResults, reduction: Reduction) -> list[str]:
    """Return the mean reductions on own and on foreign text, as percentages."""
    means = [
        mean_reduction(reduction, middle_size(results), places)
        for places in opening_places(results)
    ]
    return [
        _MISSING if value is None else f"{percent(value, 2)} %".replace("-", "−") for value in means
    ]


def _reading(results: StudyResults) -> str:
    """Explain the curves of the opening picture."""
    threshold = results.thresholds[-1]
    terms = [
        (
            f"+{results.growth_tokens:,}",
            f"Standard BPE with {results.growth_tokens:,} more tokens: shorter text, but a larger "
            "vocabulary.",
        ),
        (
            threshold,
            "The paper’s pruning: a token that is left in the text less than "
            f"{threshold} as often as the last one of Standard BPE becomes internal, and a later "
            "one takes its place.",
        ),
    ]
    if AUTO in results.policies:
        terms.append(
            (
                AUTO,
                "Chooses the number of merges and the visible tokens that make text shortest; no "
                "source of the text trained on gets longer.",
            )
        )
    if CHOSEN in results.baselines:
        terms.append(
            ("shortest", "Tokens chosen for, and text cut into, the fewest tokens possible.")
        )
    shown = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in terms)
    names = _names(results)
    return (
        f'<div class="reading"><dl>{shown}</dl><p>Percent fewer tokens than Standard BPE by '
        f"vocabulary size, mean of training on {names}. Own: the text trained on. Foreign: the "
        "other corpus.</p></div>"
    )


def _summary(results: StudyResults) -> str:
    corpora = "; ".join(
        f"<b>{escape(c.name)}</b>: {c.documents:,} documents, {c.bytes / 1e6:,.1f} MB"
        for c in results.corpora
    )
    sizes = ", ".join(f"{size:,}" for size in results.sizes)
    reason = "" if results.sizes_reason == "given" else f", {escape(results.sizes_reason)}"
    return f"{corpora}. Vocabulary sizes {sizes}{reason}."


def _beside(paper: PaperFigures) -> str:
    return (
        f"<p>The gain of 40% on the text that was trained on, as published ({escape(paper.source)})"
        " and here. The corpora are not the same: the paper’s stand beside ours by name and size."
        "</p>"
        + as_figures("beside", paper.drawings())
        + "".join(folded(table) for table in paper.tables())
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
