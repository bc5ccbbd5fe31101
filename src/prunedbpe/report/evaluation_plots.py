"""Plots of an evaluation: reductions, and how many tokens are seen rarely, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from prunedbpe.analysis.evaluation import CorpusEvaluation
from prunedbpe.analysis.metrics import SEEN_UNDER
from prunedbpe.report.charts import Row, draw_rows, signed
from prunedbpe.report.drawing import SERIES, Drawing


def write_plots(rows: Sequence[CorpusEvaluation], folder: Path) -> list[Path]:
    """Plot reductions and the share of rarely seen tokens on whole corpora.

    Args:
        rows: The rows of an evaluation.
        folder: Gets ``reduction`` and one ``exposure-N`` for each corpus, as ``.svg``, and as
            ``.png`` if the extra ``plot`` is installed.

    Returns:
        The files.
    """
    drawings = dict(_drawings([row for row in rows if row.source is None]))
    kinds = [".svg", *([".png"] if find_spec("matplotlib") else [])]
    paths = []
    for name, drawing in drawings.items():
        for kind in kinds:
            drawing.save(folder / f"{name}{kind}")
            paths.append(folder / f"{name}{kind}")
    return paths


def _drawings(rows: Sequence[CorpusEvaluation]) -> list[tuple[str, Drawing]]:
    corpora = list(dict.fromkeys(row.corpus for row in rows))
    names = list(dict.fromkeys(row.tokenizer for row in rows))
    paints = {name: f"series-{number % SERIES + 1}" for number, name in enumerate(names)}
    drawn = []
    if len(names) > 1:
        groups = [
            (
                corpus,
                [
                    _reduction(row, paints[row.tokenizer])
                    for row in rows
                    if row.corpus == corpus and row.tokenizer != names[0]
                ],
            )
            for corpus in corpora
        ]
        unit = "% fewer tokens"
        if any(row.reduction_interval for row in rows):
            unit += ", with 95 % bootstrap intervals"
        title = f"How much shorter than {names[0]}"
        drawn.append(("reduction", draw_rows(title, groups, unit=unit)))
    for number, corpus in enumerate(corpora, 1):
        groups = [
            (
                "never" if limit == 1 else f"under {limit:,} times",
                [_rare(row, limit, paints[row.tokenizer]) for row in rows if row.corpus == corpus],
            )
            for limit in SEEN_UNDER
        ]
        title = f"Tokens seen rarely in {corpus}"
        drawn.append(
            (f"exposure-{number}", draw_rows(title, groups, unit="% of the visible learned tokens"))
        )
    return drawn


def _reduction(row: CorpusEvaluation, paint: str) -> Row:
    value, interval = 100 * row.reduction, row.reduction_interval
    ends = (100 * interval[0], 100 * interval[1]) if interval else None
    return Row(row.tokenizer, value, paint, f"{signed(value)} %", ends)


def _rare(row: CorpusEvaluation, limit: int, paint: str) -> Row:
    seen = row.spread.seen_under[limit]
    value = 100 * seen / max(row.spread.learned, 1)
    return Row(row.tokenizer, value, paint, f"{signed(value)} % ({seen:,})")
