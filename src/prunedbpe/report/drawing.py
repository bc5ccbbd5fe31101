"""Drawings made of lines, boxes, dots and text, as SVG and PNG.

In: shapes, in pixels from the top left. Out: SVG inside a page, which follows its light or dark
style; or a file with light colours. SVG needs nothing; PNG needs the extra ``plot``.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Literal

from prunedbpe._support.atomic_files import atomic_write
from prunedbpe.errors import MissingExtraError, SettingsError

PALETTE = {
    "ink": ("#1b1f24", "#e6edf3"),
    "soft": ("#57606a", "#9da7b3"),
    "paper": ("#ffffff", "#0d1117"),
    "line": ("#d0d7de", "#3d444d"),
    "series-1": ("#57606a", "#9da7b3"),
    "series-2": ("#0b6bcb", "#58a6ff"),
    "series-3": ("#b35900", "#f0a35e"),
    "series-4": ("#1a7f37", "#56d364"),
    "series-5": ("#8250df", "#bc8cff"),
    "series-6": ("#bf3989", "#ff7bc0"),
}
"""Colours by name: light, dark. Series keep a contrast of 4.5:1 with the paper."""

SERIES = 6

Anchor = Literal["start", "middle", "end"]

_FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', sans-serif"
_LETTER, _BOLD_LETTER = 0.6, 0.7  # width in parts of the font size, generously
_PNG_SCALE = 2


@dataclass(frozen=True)
class Line:
    """Straight lines through points."""

    points: Sequence[tuple[float, float]]
    paint: str = "ink"
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Box:
    """A filled rectangle, with a tooltip."""

    x: float
    y: float
    width: float
    height: float
    paint: str
    tip: str = ""


@dataclass(frozen=True)
class Dot:
    """A filled circle, with a tooltip."""

    x: float
    y: float
    radius: float
    paint: str
    tip: str = ""


@dataclass(frozen=True)
class Text:
    """One line of text; ``y`` is its baseline."""

    x: float
    y: float
    text: str
    paint: str = "ink"
    anchor: Anchor = "start"
    size: float = 13.0
    bold: bool = False


Shape = Line | Box | Dot | Text


@dataclass(frozen=True)
class Drawing:
    """Shapes on a surface.

    Attributes:
        width: Width in pixels.
        height: Height in pixels.
        title: What it shows, for screen readers.
        description: All of its numbers, for screen readers.
        shapes: Drawn in this order.
    """

    width: float
    height: float
    title: str
    description: str
    shapes: list[Shape] = field(default_factory=list)

    def as_inline_svg(self, identity: str) -> str:
        """Return an element of a page that defines the palette as CSS variables.

        Args:
            identity: Prefix of element ids, unique on the page.
        """
        return (
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-labelledby="{identity}-t {identity}-d">{self._names(identity)}'
            f"{''.join(_as_svg(shape, inline=True) for shape in self.shapes)}</svg>"
        )

    def as_svg_file(self) -> str:
        """Return a standalone file."""
        paper = PALETTE["paper"][0]
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" '
            f'height="{self.height:g}" font-family="{_FONT}" role="img" '
            f'aria-labelledby="plot-t plot-d">{self._names("plot")}'
            f'<rect width="100%" height="100%" fill="{paper}"/>'
            f"{''.join(_as_svg(shape, inline=False) for shape in self.shapes)}</svg>\n"
        )

    def save(self, path: Path) -> None:
        """Write a ``.svg`` or ``.png`` file.

        Raises:
            SettingsError: Another suffix.
            MissingExtraError: A ``.png`` without the extra ``plot``.
        """
        kind = path.suffix.lower()
        if kind not in (".png", ".svg"):
            raise SettingsError(f"{path}: not a .png or .svg file", hint="change the extension")
        if kind == ".png":
            self._save_png(path)
            return
        with atomic_write(path) as file:
            file.write(self.as_svg_file().encode())

    def _names(self, identity: str) -> str:
        return (
            f'<title id="{identity}-t">{escape(self.title)}</title>'
            f'<desc id="{identity}-d">{escape(self.description)}</desc>'
        )

    def _save_png(self, path: Path) -> None:
        # matplotlib only as a canvas: it brings its own font, so no system font is needed.
        try:
            from matplotlib.figure import Figure
            from matplotlib.lines import Line2D
            from matplotlib.patches import Circle, Rectangle
        except ImportError:
            raise MissingExtraError("matplotlib", "plot", "a .png (a .svg needs nothing)") from None
        figure = Figure(
            figsize=(self.width / 100, self.height / 100), facecolor=PALETTE["paper"][0]
        )
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, self.width), ylim=(self.height, 0))
        axes.set_axis_off()
        points = 72 / 100  # of a pixel
        for order, shape in enumerate(self.shapes):
            colour = PALETTE[shape.paint][0]
            if isinstance(shape, Line):
                x, y = zip(*shape.points, strict=True)
                line = Line2D(x, y, color=colour, linewidth=shape.width * points, zorder=order)
                if shape.dashed:
                    line.set_dashes((5, 4))
                axes.add_line(line)
            elif isinstance(shape, Box):
                corner = (shape.x, shape.y)
                box = Rectangle(corner, shape.width, shape.height, color=colour, lw=0, zorder=order)
                axes.add_patch(box)
            elif isinstance(shape, Dot):
                middle = (shape.x, shape.y)
                axes.add_patch(Circle(middle, shape.radius, color=colour, lw=0, zorder=order))
            else:
                axes.text(
                    shape.x,
                    shape.y,
                    shape.text.replace("$", r"\$"),
                    color=colour,
                    fontsize=shape.size * points * 0.92,  # DejaVu Sans is wide
                    fontweight="bold" if shape.bold else "normal",
                    ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor],
                    va="baseline",
                    zorder=order,
                )
        with atomic_write(path) as file:
            figure.savefig(file, format="png", dpi=100 * _PNG_SCALE)


def arrange(title: str, drawings: Sequence[Drawing], columns: int, gap: float = 24) -> Drawing:
    """Place drawings of one size in rows, below a title."""
    width, height = drawings[0].width, drawings[0].height
    columns = min(columns, len(drawings))
    top = 40
    shapes: list[Shape] = [
        Text(gap / 2, 26, shorten(title, columns * width, 17, bold=True), size=17, bold=True)
    ]
    for number, drawing in enumerate(drawings):
        row, column = divmod(number, columns)
        across, down = gap / 2 + column * (width + gap), top + row * (height + gap)
        shapes += [_moved(shape, across, down) for shape in drawing.shapes]
    rows = math.ceil(len(drawings) / columns)
    return Drawing(
        columns * (width + gap),
        top + rows * (height + gap),
        title,
        " ".join(f"{drawing.title}: {drawing.description}" for drawing in drawings),
        shapes,
    )


def text_width(text: str, size: float = 13.0, *, bold: bool = False) -> float:
    """Estimate how wide a text is; wide characters count twice.

    >>> text_width("abcde", 10), text_width("中", 10)
    (30.0, 12.0)
    """
    letters = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
    return letters * (_BOLD_LETTER if bold else _LETTER) * size


def shorten(text: str, room: float, size: float = 13.0, *, bold: bool = False) -> str:
    """Cut a text that is too wide.

    >>> shorten("a long name", 40, 10)
    'a lon…'
    """
    if text_width(text, size, bold=bold) <= room:
        return text
    while text and text_width(text + "…", size, bold=bold) > room:
        text = text[:-1]
    return text.rstrip() + "…"


def _moved(shape: Shape, across: float, down: float) -> Shape:
    if isinstance(shape, Line):
        return replace(shape, points=[(x + across, y + down) for x, y in shape.points])
    return replace(shape, x=shape.x + across, y=shape.y + down)


def _as_svg(shape: Shape, *, inline: bool) -> str:
    paint = f"var(--{shape.paint})" if inline else PALETTE[shape.paint][0]
    if isinstance(shape, Line):
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in shape.points)
        dash = ' stroke-dasharray="5 4"' if shape.dashed else ""
        return (
            f'<path d="M{path}" fill="none" stroke="{paint}" stroke-width="{shape.width:g}"{dash}/>'
        )
    if isinstance(shape, Text):
        weight = ' font-weight="600"' if shape.bold else ""
        return (
            f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" fill="{paint}" font-size="{shape.size:g}" '
            f'text-anchor="{shape.anchor}"{weight}>{escape(shape.text)}</text>'
        )
    tip = f"<title>{escape(shape.tip)}</title>" if shape.tip else ""
    if isinstance(shape, Dot):
        return (
            f'<circle cx="{shape.x:.1f}" cy="{shape.y:.1f}" r="{shape.radius:g}" '
            f'fill="{paint}">{tip}</circle>'
        )
    return (
        f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" '
        f'height="{shape.height:.1f}" fill="{paint}">{tip}</rect>'
    )
