"""Charts with direct labels: curves over vocabulary sizes, and rows of bars.

In: numbers in percent, with their names. Out: a :class:`Drawing`. Nothing depends on colour alone:
each curve has its name at its end, each bar its name and value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from prunedbpe.report.drawing import Box, Dot, Drawing, Line, Shape, Text, shorten, text_width

_TOP, _BOTTOM, _LEFT = 62, 42, 40
_LINE_HEIGHT = 15.0
_LEADER = 22  # from the axis to the names
_MOST_NAME = 150.0  # pixels for the name of a curve


@dataclass(frozen=True)
class Curve:
    """A line with its name at the end.

    Attributes:
        name: Its label.
        points: Vocabulary size and value, in ascending order.
        paint: A colour of the palette.
        dashed: Whether the line is dashed.
    """

    name: str
    points: Sequence[tuple[int, float]]
    paint: str
    dashed: bool = False


@dataclass(frozen=True)
class Row:
    """A bar with its name and value.

    Attributes:
        name: Its label.
        value: In percent.
        paint: A colour of the palette.
        text: The value as it is written.
        interval: Ends of an interval around the value.
    """

    name: str
    value: float
    paint: str
    text: str
    interval: tuple[float, float] | None = None


def draw_curves(
    title: str,
    curves: Sequence[Curve],
    *,
    x_label: str = "vocabulary size",
    y_label: str = "% fewer tokens",
    unit: str = " %",
    marks: Mapping[int, str] | None = None,
    scale: Sequence[float] = (),
    width: float = 340,
    height: float = 270,
) -> Drawing:
    """Draw curves over vocabulary sizes, or other counts, which have a logarithmic axis.

    Args:
        title: The title.
        curves: The curves; those without points are left out.
        x_label: Label of the x axis.
        y_label: What the y axis shows.
        unit: Follows a value in tooltips and the description.
        marks: Sizes to mark by a vertical line, with their labels.
        scale: Values that the y axis must reach too; charts to compare share them.
        width: Width in pixels.
        height: Height in pixels.
    """
    curves = [curve for curve in curves if curve.points]
    marks = marks or {}
    sizes = sorted({size for curve in curves for size, _ in curve.points} | {*marks})
    values = [value for curve in curves for _, value in curve.points]
    low, high, step = bounds([0.0, *values, *scale])
    names = [shorten(curve.name, _MOST_NAME, bold=True) for curve in curves]
    right = width - _LEADER - max([0.0, *[text_width(name, bold=True) for name in names]])
    across = _logarithmic(sizes, _LEFT + 18, right - 6)

    def down(value: float) -> float:
        return height - _BOTTOM - (value - low) / (high - low) * (height - _BOTTOM - _TOP)

    shapes: list[Shape] = [
        Text(0, 15, shorten(title, width, 14.5, bold=True), size=14.5, bold=True),
        Text(0, 34, shorten(y_label, width), "soft"),
        *_value_axis(low, high, step, down, right),
        *_size_axis(sizes, across, height, right, x_label),
        *_marks(marks, across, down(low), width),
    ]
    for curve in curves:
        points = [(across[size], down(value)) for size, value in curve.points]
        shapes.append(Line(points, curve.paint, 2.2, curve.dashed))
        shapes += [
            Dot(x, y, 3, curve.paint, f"{curve.name}, {size:,}: {signed(value)}{unit}")
            for (x, y), (size, value) in zip(points, curve.points, strict=True)
        ]
    ends = [down(curve.points[-1][1]) for curve in curves]
    for curve, name, end, label in zip(
        curves, names, ends, spread(ends, _TOP, height - _BOTTOM + 10), strict=True
    ):
        last = across[curve.points[-1][0]]
        shapes.append(Line([(last + 4, end), (right + _LEADER - 4, label)], curve.paint, 0.8))
        shapes.append(Text(right + _LEADER, label + 4.5, name, curve.paint, bold=True))
    return Drawing(width, height, title, _describe(curves, unit, marks), shapes)


def draw_rows(
    title: str, groups: Sequence[tuple[str, Sequence[Row]]], *, unit: str, width: float = 680
) -> Drawing:
    """Draw bars, one below the other, in named groups.

    Args:
        title: The title.
        groups: Name of each group, and its bars.
        unit: What the values are.
        width: Width in pixels.
    """
    rows = [row for _, group in groups for row in group]
    ends: list[float] = [end for row in rows for end in (row.value, *(row.interval or ()))]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    high = high if high > low else low + 1
    names = min(max(text_width(row.name) for row in rows), width / 3)
    values = max(text_width(row.text) for row in rows) + 10
    left, right = 20 + names + (values if low < 0 else 8), width - values - 10

    def across(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    shapes: list[Shape] = [
        Text(10, 26, shorten(title, width - 20, 17, bold=True), size=17, bold=True),
        Text(10, 46, shorten(unit, width - 20), "soft"),
    ]
    y = 60.0
    for name, group in groups:
        y += 20
        shapes.append(Text(10, y, shorten(name, width - 20, bold=True), bold=True))
        start = y + 6
        for row in group:
            y += 24
            begin, end = sorted((across(0), across(row.value)))
            shapes += [
                Text(14 + names, y, shorten(row.name, names), anchor="end"),
                Box(begin, y - 12, max(end - begin, 0.5), 15, row.paint, f"{row.name}: {row.text}"),
            ]
            outer = across(row.value)
            if row.interval is not None:
                first, last = map(across, row.interval)
                shapes.append(Line([(first, y - 4.5), (last, y - 4.5)], "ink", 1.5))
                shapes += [Line([(x, y - 8), (x, y - 1)], "ink", 1.5) for x in (first, last)]
                outer = first if row.value < 0 else max(last, outer)
            if row.value < 0:
                shapes.append(Text(outer - 5, y, row.text, anchor="end"))
            else:
                shapes.append(Text(outer + 5, y, row.text))
        shapes.append(Line([(across(0), start), (across(0), y + 6)], "soft"))
        y += 12
    described = ". ".join(
        f"{name}: " + "; ".join(f"{row.name} {row.text}" for row in group) for name, group in groups
    )
    return Drawing(width, y + 8, title, f"{unit}. {described}.", shapes)


def bounds(values: Sequence[float]) -> tuple[float, float, float]:
    """Return bounds with a little room, and a tick step of 1, 2 or 5 times a power of ten.

    >>> bounds([0.0, 4.0])
    (0.0, 4.2, 1.0)
    """
    low, high = min(values), max(values)
    high = high if high > low else low + 1
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough * 0.999)
    room = 0.05 * (high - low)
    return low - room if low < 0 else low, high + room, step


def spread(places: Sequence[float], low: float, high: float) -> list[float]:
    """Move labels apart until each has a line of its own, in the same order.

    >>> spread([50.0, 52.0], 0, 100)
    [43.5, 58.5]
    """
    order = sorted(range(len(places)), key=places.__getitem__)
    # Neighbours that are too close form a block, centred on the mean of its labels.
    blocks: list[list[int]] = []
    for place in order:
        blocks.append([place])
        while len(blocks) > 1 and _start(places, blocks[-1]) < (
            _start(places, blocks[-2]) + len(blocks[-2]) * _LINE_HEIGHT
        ):
            last = blocks.pop()
            blocks[-1] += last
    moved = list(places)
    for block in blocks:
        for number, place in enumerate(block):
            moved[place] = _start(places, block) + number * _LINE_HEIGHT
    if order and moved[order[-1]] > high:
        for number, place in enumerate(reversed(order)):
            moved[place] = min(moved[place], high - number * _LINE_HEIGHT)
    if order and moved[order[0]] < low:
        for number, place in enumerate(order):
            moved[place] = max(moved[place], low + number * _LINE_HEIGHT)
    return moved


def signed(value: float, digits: int = 2) -> str:
    """Format a number with a true minus.

    >>> signed(-0.126)
    '−0.13'
    """
    return f"{value:.{digits}f}".replace("-", "−")


def _start(places: Sequence[float], block: Sequence[int]) -> float:
    middle = sum(places[place] for place in block) / len(block)
    return middle - (len(block) - 1) / 2 * _LINE_HEIGHT


def _logarithmic(sizes: Sequence[int], left: float, right: float) -> dict[int, float]:
    if len(sizes) < 2:
        return dict.fromkeys(sizes, (left + right) / 2)
    first, last = math.log(sizes[0]), math.log(sizes[-1])
    return {
        size: left + (math.log(size) - first) / (last - first) * (right - left) for size in sizes
    }


def _value_axis(
    low: float, high: float, step: float, down: Callable[[float], float], right: float
) -> list[Shape]:
    shapes: list[Shape] = []
    digits = max(0, -math.floor(math.log10(step)))
    for number in range(math.ceil(low / step), math.floor(high / step) + 1):
        y = down(number * step)
        shapes.append(Line([(_LEFT, y), (right, y)], "line" if number else "soft"))
        shapes.append(Text(_LEFT - 6, y + 4.5, signed(number * step, digits), "soft", "end"))
    return shapes


def _size_axis(
    sizes: Sequence[int], across: Mapping[int, float], height: float, right: float, label: str
) -> list[Shape]:
    """Label as many sizes as have room; the largest always."""
    shapes: list[Shape] = []
    limit = math.inf
    for size in reversed(sizes):
        x, half = across[size], text_width(f"{size:,}") / 2
        if x + half < limit:
            limit = x - half - 6
            y = height - _BOTTOM
            shapes.append(Line([(x, y), (x, y + 4)], "soft"))
            shapes.append(Text(x, y + 18, f"{size:,}", "soft", "middle"))
    shapes.append(Text((_LEFT + right) / 2, height - 5, label, "soft", "middle"))
    return shapes


def _marks(
    marks: Mapping[int, str], across: Mapping[int, float], bottom: float, room: float
) -> list[Shape]:
    """Draw vertical lines with labels above them; a label without room is left out."""
    shapes: list[Shape] = []
    limit = 0.0
    for size in sorted(marks):
        x, width = across[size], text_width(marks[size])
        shapes.append(Line([(x, _TOP - 6), (x, bottom)], "soft", dashed=True))
        start = min(max(x - width / 2, 0), room - width)
        if start >= limit:
            shapes.append(Text(start, _TOP - 10, marks[size], "soft"))
            limit = start + width + 6
    return shapes


def _describe(curves: Sequence[Curve], unit: str, marks: Mapping[int, str]) -> str:
    parts = [
        f"{curve.name}: "
        + ", ".join(f"{size:,} {signed(value)}{unit}" for size, value in curve.points)
        for curve in curves
    ]
    parts += [f"marked: {label}" for label in marks.values()]
    return "; ".join(parts) + "."
