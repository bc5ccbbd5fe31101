"""Put the cells of the paper beside those of the study, as tables in ``index.md``.

    python docs/results/beside_paper.py

In: ``paper.json`` (the figures of the paper) and ``study/study.json`` (our run). Out: the part of
``index.md`` between the markers. A cell stands beside the cell of the same name, not of the same
text: the paper's corpora are not ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "index.md"
THRESHOLDS = ("20%", "30%", "40%")
OURS = (*THRESHOLDS, "auto", "Chosen for shortest")
STANDARD = "Standard"
MISSING = "–"

Cells = dict[tuple[str, int, str, str], dict[str, Any]]
"""By training corpus, size, policy and encoded corpus."""


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def with_tables(page: str) -> str:
    """Return the page with its tables made again."""
    paper = json.loads((HERE / "paper.json").read_text(encoding="utf-8"))
    study = json.loads((HERE / "study" / "study.json").read_text(encoding="utf-8"))
    tables = "\n\n".join(
        [
            length_table(paper, study),
            internal_table(paper, study),
            growth_table(paper, study),
            shortest_table(paper, study),
        ]
    )
    filled = f"<!-- paper -->\n\n{tables}\n\n<!-- end paper -->"
    return re.sub("<!-- paper -->.*<!-- end paper -->", lambda _: filled, page, flags=re.DOTALL)


def length_table(paper: dict[str, Any], study: dict[str, Any]) -> str:
    """Table 3: Standard lengths in millions of tokens, and what each policy saves."""
    cells = cells_of(study)
    rows = []
    for cell in paper["lengths"]:
        place = cell["training"], cell["vocab_size"], cell["corpus"]
        rows.append(
            [
                cell["training"],
                cell["corpus"],
                f"{cell['vocab_size']:,}",
                f"{cell['millions'][STANDARD]:.3f}",
                *[f"{cell['reduction'][threshold]:.2f}" for threshold in THRESHOLDS],
                millions(cells, *place),
                *[saved(cells, policy, *place) for policy in OURS],
            ]
        )
    return table(
        "Encoded lengths (Table 3): millions of tokens of Standard BPE, and per cent saved.",
        ["trained on", "encoded", "size"],
        [
            *["paper: Standard", *THRESHOLDS],
            *["here: Standard", *THRESHOLDS, "auto", "chosen for shortest"],
        ],
        rows,
    )


def internal_table(paper: dict[str, Any], study: dict[str, Any]) -> str:
    """Table 4: internal tokens."""
    ours = {
        (fact["training"], fact["vocab_size"], fact["policy"]): fact["internal"]
        for fact in study["facts"]
    }
    rows = []
    for cell in paper["internal"]:
        place = cell["training"], cell["vocab_size"]
        here = [ours.get((*place, threshold)) for threshold in THRESHOLDS]
        rows.append(
            [
                cell["training"],
                f"{cell['vocab_size']:,}",
                *[f"{cell['internal'][threshold]:,}" for threshold in THRESHOLDS],
                *[MISSING if count is None else f"{count:,}" for count in here],
            ]
        )
    return table(
        "Internal tokens (Table 4).",
        ["trained on", "size"],
        [f"{where}: {threshold}" for where in ("paper", "here") for threshold in THRESHOLDS],
        rows,
    )


def growth_table(paper: dict[str, Any], study: dict[str, Any]) -> str:
    """Figure 1: 2,000 more Standard tokens, on the training corpus."""
    cells = cells_of(study)
    grown = {
        (cell["training"], cell["vocab_size"]): cell["length"]
        for cell in study["growth"]
        if cell["training"] == cell["corpus"]
    }
    rows = []
    for cell in paper["growth"]:
        training, size = cell["training"], cell["vocab_size"]
        standard = cells.get((training, size, STANDARD, training))
        here = MISSING
        if standard is not None and (training, size) in grown:
            here = f"{100 * (1 - grown[training, size] / standard['length']):.2f}"
        rows.append([training, f"{size:,}", f"{cell['reduction']:.2f}", here])
    return table(
        "Per cent saved by 2,000 more Standard tokens (Figure 1).",
        ["trained on", "size"],
        ["paper", "here"],
        rows,
    )


def shortest_table(paper: dict[str, Any], study: dict[str, Any]) -> str:
    """Figure 2: what 40 % saves by rank, and with both sides in the fewest tokens."""
    cells = cells_of(study)
    rows = []
    for cell in paper["shortest"]:
        place = cell["training"], cell["vocab_size"], cell["corpus"]
        rows.append(
            [
                cell["training"],
                cell["corpus"],
                f"{cell['vocab_size']:,}",
                *[f"{cell[kind]:.2f}" for kind in ("by_rank", "shortest")],
                saved(cells, "40%", *place),
                saved(cells, "40%", *place, kind="shortest"),
            ]
        )
    return table(
        "Per cent saved at 40 %, by rank and with both sides in the fewest tokens (Figure 2).",
        ["trained on", "encoded", "size"],
        ["paper: by rank", "fewest tokens", "here: by rank", "fewest tokens"],
        rows,
    )


def cells_of(study: dict[str, Any]) -> Cells:
    """Return the cells of the study, by place."""
    return {
        (cell["training"], cell["vocab_size"], cell["policy"], cell["corpus"]): cell
        for cell in study["cells"]
    }


def millions(cells: Cells, training: str, size: int, corpus: str) -> str:
    """Millions of tokens of Standard BPE."""
    standard = cells.get((training, size, STANDARD, corpus))
    return MISSING if standard is None else f"{standard['length'] / 1e6:.3f}"


def saved(
    cells: Cells, policy: str, training: str, size: int, corpus: str, kind: str = "length"
) -> str:
    """Per cent fewer tokens than Standard BPE of the same size."""
    standard = cells.get((training, size, STANDARD, corpus))
    cell = cells.get((training, size, policy, corpus))
    if standard is None or cell is None:
        return MISSING
    return f"{100 * (1 - cell[kind] / standard[kind]):.2f}"


def table(
    caption: str, names: Sequence[str], figures: Sequence[str], rows: Iterable[Sequence[str]]
) -> str:
    """Format a Markdown table; figures are right-aligned."""
    rule = ["---"] * len(names) + ["---:"] * len(figures)
    lines = ["| " + " | ".join(row) + " |" for row in ([*names, *figures], rule, *rows)]
    return "\n".join([caption, "", *lines])


if __name__ == "__main__":
    main()
