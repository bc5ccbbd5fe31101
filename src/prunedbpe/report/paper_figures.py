"""The paper's own figures beside those of a study.

In: ``paper_figures.json``, carried over from Tables 3 and 4 and Figures 1 and 2 of the paper, which
it names as its source; and a study. Out: tables and drawings. A corpus stands beside the one of
the same place, not of the same text: the paper's corpora are not those of the study.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from importlib.resources import files
from typing import Any

from prunedbpe.report.charts import Curve, draw_curves
from prunedbpe.report.drawing import Drawing
from prunedbpe.report.results import AUTO, CHOSEN, STANDARD, StudyResults
from prunedbpe.report.tables import Table, Value

THRESHOLDS = ("20%", "30%", "40%")
_DIGITS = 2  # of the paper's percentages


@dataclass(frozen=True)
class PaperFigures:
    """What the paper published, beside a study.

    Attributes:
        results: The study.
    """

    results: StudyResults

    @cached_property
    def _published(self) -> dict[str, Any]:
        text = files("prunedbpe.report").joinpath("paper_figures.json").read_text(encoding="utf-8")
        published: dict[str, Any] = json.loads(text, parse_float=Decimal)
        return published

    @property
    def source(self) -> str:
        """Where the figures were published."""
        return str(self._published["source"])

    @property
    def comparable(self) -> bool:
        """Whether the study has a cell of the paper."""
        return any(
            self._saved("40%", self._place(cell)) is not None for cell in self._published["lengths"]
        )

    def tables(self) -> list[Table]:
        """Return every published figure with ours: Tables 3 and 4, Figures 1 and 2."""
        return [self._lengths(), self._internal(), self._growth(), self._shortest()]

    def drawings(self) -> list[Drawing]:
        """Draw the gain at 40 % on the training corpus, published and here."""
        panels = []
        for theirs, ours in self._names.items():
            points = [
                (cell["vocab_size"], float(cell["reduction"]["40%"]))
                for cell in self._published["lengths"]
                if cell["training"] == cell["corpus"] == theirs
            ]
            here = [
                (size, float(100 * saved))
                for size, _ in points
                if (saved := self._saved("40%", (ours, size, ours))) is not None
            ]
            panels.append((f"{ours}: own text, 40%", points, here))
        scale = [value for _, *lines in panels for points in lines for _, value in points]
        return [
            draw_curves(
                title,
                [Curve("paper", points, "series-1", dashed=True), Curve("here", here, "series-2")],
                scale=scale,
            )
            for title, points, here in panels
        ]

    @cached_property
    def _names(self) -> dict[str, str]:
        return dict(zip(("I", "II", "I+II"), self.results.trainings, strict=False))

    def _place(self, cell: dict[str, Any]) -> tuple[str, int, str]:
        training, corpus = self._names[cell["training"]], self._names[cell["corpus"]]
        return training, cell["vocab_size"], corpus

    def _saved(self, policy: str, place: tuple[str, int, str]) -> Fraction | None:
        training, size, corpus = place
        if not self.results.has(training, size, policy, corpus):
            return None
        return self.results.reduction(training, size, policy, corpus)

    def _lengths(self) -> Table:
        ours = [
            *THRESHOLDS,
            *[p for p in (AUTO, CHOSEN) if p in (*self.results.policies, *self.results.baselines)],
        ]
        rows: list[list[Value]] = []
        for cell in self._published["lengths"]:
            training, size, corpus = place = self._place(cell)
            length: Value = None
            if self.results.has(training, size, STANDARD, corpus):
                tokens = self.results.cell(training, size, STANDARD, corpus).length
                length = (Decimal(tokens) / 10**6).quantize(Decimal("0.001"))
            rows.append(
                [
                    training,
                    corpus,
                    size,
                    cell["millions"][STANDARD],
                    *[cell["reduction"][threshold] for threshold in THRESHOLDS],
                    length,
                    *[self._saved(policy, place) for policy in ours],
                ]
            )
        return Table(
            "paper-3-lengths",
            "Encoded lengths, paper and here (Table 3)",
            "Millions of tokens of Standard BPE, and percent saved.",
            [
                *["Trained on", "Encoded", "Size", "paper: Standard", *_paper(THRESHOLDS)],
                *["here: Standard", *[f"here: {policy}" for policy in ours]],
            ],
            rows,
            headings=3,
            digits=_DIGITS,
        )

    def _internal(self) -> Table:
        here = {(f.training, f.vocab_size, f.policy): f.internal for f in self.results.facts}
        rows: list[list[Value]] = []
        for cell in self._published["internal"]:
            place = self._names[cell["training"]], cell["vocab_size"]
            published = [cell["internal"][threshold] for threshold in THRESHOLDS]
            rows.append([*place, *published, *[here.get((*place, t)) for t in THRESHOLDS]])
        return Table(
            "paper-4-internal",
            "Internal tokens, paper and here (Table 4)",
            "Number of internal tokens.",
            ["Trained on", "Size", *_paper(THRESHOLDS), *[f"here: {t}" for t in THRESHOLDS]],
            rows,
            headings=2,
        )

    def _growth(self) -> Table:
        rows: list[list[Value]] = []
        for cell in self._published["growth"]:
            training, size = self._names[cell["training"]], cell["vocab_size"]
            here = self.results.growth_reduction(training, size, training)
            rows.append([training, size, cell["reduction"], here])
        return Table(
            "paper-figure-1",
            "2,000 more Standard tokens, paper and here (Figure 1)",
            "Percent saved on the training corpus.",
            ["Trained on", "Size", "paper", "here"],
            rows,
            headings=2,
            digits=_DIGITS,
        )

    def _shortest(self) -> Table:
        rows: list[list[Value]] = []
        for cell in self._published["shortest"]:
            training, size, corpus = place = self._place(cell)
            both: Value = None
            if self.results.has(training, size, "40%", corpus):
                both = self.results.shortest_reduction(training, size, "40%", corpus)
            published = [cell["by_rank"], cell["shortest"]]
            rows.append([training, corpus, size, *published, self._saved("40%", place), both])
        return Table(
            "paper-figure-2",
            "By rank and in the fewest tokens, paper and here (Figure 2)",
            "Percent saved at 40 %, by rank and with both sides in the fewest tokens.",
            [
                *["Trained on", "Encoded", "Size"],
                *["paper: by rank", "paper: shortest", "here: by rank", "here: shortest"],
            ],
            rows,
            headings=3,
            digits=_DIGITS,
        )


def _paper(thresholds: tuple[str, ...]) -> list[str]:
    return [f"paper: {threshold}" for threshold in thresholds]
