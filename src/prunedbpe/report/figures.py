"""The two figures of a study as inline SVG.

Colours come from the page's style (``var(--series-1)`` and so on), so one drawing serves light and
dark mode; a policy has the same colour in both figures. For accessibility, bars are in legend order
and the description lists all numbers. The drawings of one figure share their scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from importlib.resources import files

from prunedbpe.report.results import STANDARD, StudyResults, percent, share

# Between the widths of a drawing on narrow and wide pages, so text keeps about its size.
_WIDTH, _HEIGHT = 340, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 8, 10, 44
_LETTER = 8.0  # width of a letter, generously
_COLOURS = 6


@dataclass(frozen=True)
class Series:
    """Bars of one colour, at most one for each place on the x axis.

    Attributes:
        name: Name in the legend.
        values: Heights of the bars.
        labels: Tooltips of the bars.
        look: CSS classes of the bars; by position in the drawing if empty.
    """

    name: str
    values: Sequence[float | None]
    labels: Sequence[str]
    look: str = ""


@dataclass(frozen=True)
class Figure:
    """A drawing, its title, and its legend: look and name of each series."""

    title: str
    svg: str
    legend: list[tuple[str, str]]


class _Drawing:
    """A plot area with a numeric y axis and named places on the x axis."""

    def __init__(self, identity: str, title: str, places: Sequence[str], low: float, high: float):
        self.identity = identity
        self.title = title
        self.places = places
        self.low, self.high, self.step = _nice(low, high)
        self.parts: list[str] = []

    def x(self, place: float) -> float:
        return _LEFT + (place + 0.5) * (_WIDTH - _LEFT - _RIGHT) / len(self.places)

    def y(self, value: float) -> float:
        height = _HEIGHT - _TOP - _BOTTOM
        return _TOP + height * (1 - (value - self.low) / (self.high - self.low))

    def add_axes(self, x_label: str, y_label: str) -> None:
        value = self.low
        while value <= self.high + self.step / 2:
            y = self.y(value)
            self.parts.append(
                f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
                f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
                f"{round(value, 6):g}</text>"
            )
            value += self.step
        # Names must not overlap: show only every n-th of many, and truncate long ones. The
        # description has them all.
        room = (_WIDTH - _LEFT - _RIGHT) / _LETTER / len(self.places)
        every = math.ceil(min(max(map(len, self.places)) + 1, 6) / room)
        letters = int(room * every)
        for place, name in list(enumerate(self.places))[::every]:
            name = name if len(name) <= letters else name[: letters - 1] + "…"
            self.parts.append(
                f'<text x="{self.x(place):.1f}" y="{_HEIGHT - _BOTTOM + 16}" '
                f'text-anchor="middle">{escape(name)}</text>'
            )
        middle = (_TOP + _HEIGHT - _BOTTOM) / 2
        self.parts.append(
            f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 8}" '
            f'text-anchor="middle">{escape(x_label)}</text>'
            f'<text transform="translate(12 {middle}) rotate(-90)" '
            f'text-anchor="middle">{escape(y_label)}</text>'
        )

    def add_bars(self, series: Sequence[Series]) -> None:
        room = (_WIDTH - _LEFT - _RIGHT) / len(self.places)
        width = room * 0.84 / max(len(series), 1)
        zero = self.y(max(self.low, 0.0))
        for number, one in enumerate(series):
            for place, value in enumerate(one.values):
                if value is None:
                    continue
                left = self.x(place) - room * 0.42 + number * width
                top, bottom = sorted((self.y(value), zero))
                self.parts.append(
                    f'<rect class="bar {one.look or _look(number)}" x="{left:.1f}" y="{top:.1f}" '
                    f'width="{max(width - 1, 1):.1f}" height="{max(bottom - top, 0.5):.1f}">'
                    f"<title>{escape(one.labels[place])}</title></rect>"
                )

    def svg(self, description: str) -> str:
        return (
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'aria-labelledby="{self.identity}-t {self.identity}-d">'
            f'<title id="{self.identity}-t">{escape(self.title)}</title>'
            f'<desc id="{self.identity}-d">{escape(description)}</desc>'
            f"{''.join(self.parts)}</svg>"
        )


def _nice(low: float, high: float) -> tuple[float, float, float]:
    """Return round bounds, and a tick step of 1, 2 or 5 times a power of ten."""
    if high <= low:
        high = low + 1
    rough = (high - low) / 5
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.999)
    return math.floor(low / step) * step, math.ceil(high / step) * step, step


def growth_figures(results: StudyResults) -> list[Figure]:
    """Figure 1: the gain of more Standard tokens and of pruning, by training corpus."""
    panels = []
    for training in results.trainings:
        grown = [results.growth_reduction(training, size, training) for size in results.sizes]
        series = [_percentages(f"+{results.growth_tokens:,} Standard", results, grown, _look(0))]
        for number, policy in enumerate(results.policies):
            if policy != STANDARD:
                saved = [results.reduction(training, n, policy, training) for n in results.sizes]
                series.append(_percentages(policy, results, saved, _look(number)))
        panels.append(series)
    return _panels("figure-1", results, panels)


def shortest_figures(results: StudyResults) -> list[Figure]:
    """Figure 2: by rank and shortest, against Standard BPE by rank, by training corpus.

    Absolute lengths would be too close together to distinguish.
    """
    compared = [results.thresholds[-1]] + (["auto"] if "auto" in results.policies else [])
    shown = [(STANDARD, "shortest")]
    shown += [(policy, how) for policy in compared for how in ("by rank", "shortest")]
    panels = []
    for training in results.trainings:
        series = []
        for policy, how in shown:
            reductions: list[Fraction | None] = []
            for size in results.sizes:
                cell = results.cell(training, size, policy, training)
                length = cell.length if how == "by rank" else cell.shortest
                by_rank = results.cell(training, size, STANDARD, training).length
                reductions.append(None if length is None else share(by_rank - length, by_rank))
            look = _look(results.policies.index(policy)) + (" light" if how == "by rank" else "")
            series.append(_percentages(f"{policy}, {how}", results, reductions, look))
        panels.append(series)
    return _panels("figure-2", results, panels)


def _panels(
    identity: str, results: StudyResults, panels: Sequence[Sequence[Series]]
) -> list[Figure]:
    """Draw one panel for each training corpus, measured on that corpus."""
    values = [value for series in panels for one in series for value in one.values]
    return [
        draw_bars(
            f"{identity}-{number}",
            f"Trained and measured on {training}",
            [_size(size) for size in results.sizes],
            series,
            "vocabulary size",
            "shorter by, %",
            values,
        )
        for number, (training, series) in enumerate(zip(results.trainings, panels, strict=True))
    ]


def _look(number: int) -> str:
    return f"s{number % _COLOURS + 1}"


def draw_bars(
    identity: str,
    title: str,
    places: Sequence[str],
    series: Sequence[Series],
    x_label: str,
    y_label: str,
    scale: Sequence[float | None] = (),
) -> Figure:
    """Draw groups of bars, one group for each place on the x axis.

    Args:
        identity: Prefix of the drawing's element ids, unique on a page.
        title: Title for screen readers.
        places: Names on the x axis.
        series: At most six series.
        x_label: Label of the x axis.
        y_label: Label of the y axis.
        scale: Values of neighbouring drawings that share the scale.
    """
    values = [value for one in series for value in one.values if value is not None]
    values += [value for value in scale if value is not None]
    drawing = _Drawing(identity, title, places, min([0.0, *values]), max([0.0, *values]))
    drawing.add_axes(x_label, y_label)
    drawing.add_bars(series)
    legend = [(one.look or _look(number), one.name) for number, one in enumerate(series)]
    return Figure(title, drawing.svg(f"Bars. {_describe(series, places)}"), legend)


def as_svg_file(figure: Figure) -> str:
    """Return the drawing as a standalone SVG file with its legend and style."""
    row = 18
    keys = "".join(
        f'<rect class="bar {look}" x="{_LEFT}" y="{_HEIGHT + row * (number - 1)}" '
        f'width="26" height="12"/><text x="{_LEFT + 34}" y="{_HEIGHT + row * number - 7}">'
        f"{escape(name)}</text>"
        for number, (look, name) in enumerate(figure.legend, 1)
    )
    height = _HEIGHT + row * len(figure.legend) + 8
    drawing = figure.svg.replace(
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}"',
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"',
    )
    return drawing.replace("</svg>", f"<style>{page_style()}</style>{keys}</svg>")


def page_style() -> str:
    """Return the style of the page and of standalone drawings."""
    return files("prunedbpe.report").joinpath("page.css").read_text(encoding="utf-8")


def _percentages(
    name: str, results: StudyResults, values: Sequence[Fraction | None], look: str
) -> Series:
    return Series(
        name,
        [None if value is None else float(value * 100) for value in values],
        [
            "" if value is None else f"{name}, {size:,}: {percent(value)} %"
            for size, value in zip(results.sizes, values, strict=True)
        ],
        look,
    )


def _describe(series: Sequence[Series], places: Sequence[str]) -> str:
    """List all numbers; each label names its series, place and value."""
    groups = [
        "; ".join(one.labels[place] for one in series if one.values[place] is not None)
        for place in range(len(places))
    ]
    return ". ".join(groups) + "."


def _size(size: int) -> str:
    return f"{size / 1000:g}K" if size >= 1000 else str(size)
