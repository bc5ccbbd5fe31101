"""Plot of a sweep; needs the extra ``plot``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prunedbpe._support.atomic_files import atomic_write
from prunedbpe.analysis.sweeping import SizeAdvice, SweepCell
from prunedbpe.errors import MissingExtraError, SettingsError


def draw_sweep(cells: Sequence[SweepCell], advice: SizeAdvice, path: Path) -> None:
    """Plot the reduction by size, one line for each threshold and corpus, and the growth curve.

    Args:
        cells: The cells of a sweep.
        advice: The marginal-reduction curve.
        path: A ``.png`` or ``.svg`` file.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("png", "svg"):
        raise SettingsError(f"{path}: not a .png or .svg file", hint="change the extension")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "plotting a sweep") from None

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    gains, growth = figure.subplots(1, 2)
    lines: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for cell in cells:
        if cell.reduction is not None:
            point = (cell.vocab_size, 100 * cell.reduction)
            lines.setdefault((cell.corpus, cell.threshold), []).append(point)
    for (corpus, threshold), points in lines.items():
        sizes, reductions = zip(*sorted(points), strict=True)
        gains.plot(sizes, reductions, marker="o", label=f"{corpus}, {threshold}")
    gains.set_xlabel("vocabulary size")
    gains.set_ylabel("fewer tokens than Standard BPE, %")
    gains.set_title("Gain of pruning")
    gains.axhline(0, color="grey", linewidth=0.8)
    gains.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3)

    growth.plot(advice.sizes, [100 * value for value in advice.reductions], marker=".")
    for size in advice.suggested:
        growth.axvline(size, color="grey", linestyle=":", linewidth=1)
        top = growth.get_ylim()[1]
        growth.annotate(f"{size:,} ", (size, top), ha="right", va="top", rotation=90)
    growth.set_xlabel("vocabulary size")
    growth.set_ylabel("fewer tokens with 2,000 more, %")
    growth.set_title("Gain of growing (Standard BPE)")
    with atomic_write(path) as file:
        figure.savefig(file, format=kind, dpi=150)
