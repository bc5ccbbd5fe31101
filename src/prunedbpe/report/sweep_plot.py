"""Plot of a sweep: the gain of pruning on each corpus, and the gain of growing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prunedbpe.analysis.sweeping import GROWTH, SizeAdvice, SweepCell
from prunedbpe.report.charts import Curve, draw_curves
from prunedbpe.report.drawing import SERIES, arrange

_WIDTH, _HEIGHT = 460, 330
_COLUMNS = 2


def draw_sweep(
    cells: Sequence[SweepCell], advice: SizeAdvice, path: Path, trained: Sequence[int] = ()
) -> None:
    """Plot the reduction by size: one panel for each corpus, one curve for each threshold.

    The last panel is the growth curve, with the suggested sizes, if it has two points.

    Args:
        cells: The cells of a sweep.
        advice: The marginal-reduction curve.
        path: A ``.png`` (extra ``plot``) or ``.svg`` file.
        trained: Vocabulary sizes that were trained, marked where the axis has them.
    """
    known = [cell for cell in cells if cell.reduction is not None]
    corpora = list(dict.fromkeys(cell.corpus for cell in cells))
    thresholds = list(dict.fromkeys(cell.threshold for cell in cells))
    scale = [100 * (cell.reduction or 0.0) for cell in known]
    sizes = [cell.vocab_size for cell in cells]
    marks = {size: f"trained: {size:,}" for size in trained}
    panels = []
    for corpus in corpora:
        curves = []
        for number, threshold in enumerate(thresholds):
            points = sorted(
                (cell.vocab_size, 100 * (cell.reduction or 0.0))
                for cell in known
                if (cell.corpus, cell.threshold) == (corpus, threshold)
            )
            # Threshold 0 by rank is Standard BPE, the zero line itself.
            if any(value for _, value in points):
                curves.append(Curve(threshold, points, f"series-{number % SERIES + 1}"))
        panels.append(
            draw_curves(
                f"Pruning: {corpus}",
                curves,
                y_label="% fewer tokens than Standard BPE of the same size",
                marks={s: m for s, m in marks.items() if min(sizes) <= s <= max(sizes)},
                scale=scale,
                width=_WIDTH,
                height=_HEIGHT,
            )
        )
    title = "What pruning gains, by vocabulary size"
    if len(advice.sizes) > 1:
        title = "What pruning and growing gain, by vocabulary size"
        grown = [100 * value for value in advice.reductions]
        suggested = {size: f"{size:,}" for size in advice.suggested}
        inside = {s: m for s, m in marks.items() if advice.sizes[0] <= s <= advice.sizes[-1]}
        panels.append(
            draw_curves(
                "Growing: Standard BPE",
                [Curve(f"+{GROWTH:,}", list(zip(advice.sizes, grown, strict=True)), "series-1")],
                y_label=f"% fewer tokens with {GROWTH:,} more"
                + ("; marked: suggested sizes" if suggested else ""),
                marks=suggested | inside,
                width=_WIDTH,
                height=_HEIGHT,
            )
        )
    arrange(title, panels, _COLUMNS).save(path)
