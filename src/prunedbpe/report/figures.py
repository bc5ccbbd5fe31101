"""The figures of a study: curves over vocabulary sizes, one panel for each corpus.

A policy has the same colour in all figures. The panels of a figure share their scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from prunedbpe.report.charts import Curve, draw_curves
from prunedbpe.report.drawing import SERIES, Drawing
from prunedbpe.report.results import AUTO, CHOSEN, STANDARD, StudyResults, share

Reduction = Callable[[str, int, str], Fraction | None]
"""Training corpus, size and encoded corpus -> share of tokens saved."""

_CHOSEN_PAINT = "series-6"
_HEIGHT, _OPENING_HEIGHT = 270, 340


def growth_figures(results: StudyResults) -> list[Drawing]:
    """Figure 1: the gain of more Standard tokens and of pruning, by training corpus."""
    panels = []
    for name in results.trainings:
        lines = [_growth(results), *_policies(results)]
        panels.append((f"Trained and measured on {name}", lines, [(name, name)]))
    return _panels(results, panels)


def shortest_figures(results: StudyResults) -> list[Drawing]:
    """Figure 2: by rank and shortest, against Standard BPE by rank, by training corpus.

    Absolute lengths would be too close together to distinguish.
    """
    compared = [results.thresholds[-1], *([AUTO] if AUTO in results.policies else [])]
    panels = []
    for name in results.trainings:
        lines = [_shortest(results, STANDARD)]
        for policy in compared:
            lines += [_by_rank(results, policy, "by rank", dashed=True), _shortest(results, policy)]
        panels.append((f"Trained and measured on {name}", lines, [(name, name)]))
    return _panels(results, panels)


def gain_figures(results: StudyResults) -> list[Drawing]:
    """The picture that opens the page: what is gained on own text and on the other corpus."""
    lines = [_growth(results), *(_by_rank(results, p) for p in opening_policies(results))]
    own, foreign = opening_places(results)
    marks = {middle_size(results): f"{middle_size(results):,}"}
    return _panels(
        results,
        [("Own text", lines, own), ("Foreign text", lines, foreign)],
        marks if len(results.sizes) > 1 else {},
        height=_OPENING_HEIGHT,
    )


def opening_policies(results: StudyResults) -> list[str]:
    """Return what the page opens with: the largest threshold, auto and chosen, if included."""
    extra = [p for p in (AUTO, CHOSEN) if p in (*results.policies, *results.baselines)]
    return [results.thresholds[-1], *extra]


def opening_places(results: StudyResults) -> list[list[tuple[str, str]]]:
    """Return pairs of training and encoded corpus: own text, and the other corpus."""
    first, second = results.trainings[:2]
    return [[(first, first), (second, second)], [(first, second), (second, first)]]


def middle_size(results: StudyResults) -> int:
    """Return the size whose gains the page names."""
    return results.sizes[len(results.sizes) // 2]


def mean_reduction(
    reduction: Reduction, size: int, places: Sequence[tuple[str, str]]
) -> Fraction | None:
    """Return the mean of a reduction over pairs of corpora; ``None`` if one is missing."""
    found = [reduction(training, size, corpus) for training, corpus in places]
    known = [value for value in found if value is not None]
    return sum(known, Fraction(0)) / len(known) if len(known) == len(found) else None


Line = tuple[str, str, Reduction, bool]
"""Name, paint, what it shows, and whether it is dashed."""


def _growth(results: StudyResults) -> Line:
    return f"+{results.growth_tokens:,}", "series-1", results.growth_reduction, False


def _policies(results: StudyResults) -> list[Line]:
    return [_by_rank(results, policy) for policy in results.policies if policy != STANDARD]


def _by_rank(results: StudyResults, policy: str, note: str = "", *, dashed: bool = False) -> Line:
    def reduction(training: str, size: int, corpus: str) -> Fraction | None:
        if not results.has(training, size, policy, corpus):
            return None
        return results.reduction(training, size, policy, corpus)

    name = "shortest" if policy == CHOSEN else f"{policy} {note}".strip()
    return name, _paint(results, policy), reduction, dashed


def _shortest(results: StudyResults, policy: str) -> Line:
    def reduction(training: str, size: int, corpus: str) -> Fraction | None:
        by_rank = results.cell(training, size, STANDARD, corpus).length
        shortest = results.cell(training, size, policy, corpus).shortest
        return None if shortest is None else share(by_rank - shortest, by_rank)

    return f"{policy} fewest", _paint(results, policy), reduction, False


def _paint(results: StudyResults, policy: str) -> str:
    if policy == CHOSEN:
        return _CHOSEN_PAINT
    return f"series-{results.policies.index(policy) % (SERIES - 1) + 1}"


def _panels(
    results: StudyResults,
    panels: Sequence[tuple[str, Sequence[Line], Sequence[tuple[str, str]]]],
    marks: dict[int, str] | None = None,
    height: float = _HEIGHT,
) -> list[Drawing]:
    drawn = []
    for title, lines, places in panels:
        curves = []
        for name, paint, reduction, dashed in lines:
            points = [
                (size, float(100 * value))
                for size in results.sizes
                if (value := mean_reduction(reduction, size, places)) is not None
            ]
            curves.append(Curve(name, points, paint, dashed))
        drawn.append((title, curves))
    scale = [value for _, curves in drawn for curve in curves for _, value in curve.points]
    return [
        draw_curves(title, curves, marks=marks, scale=scale, height=height)
        for title, curves in drawn
    ]
