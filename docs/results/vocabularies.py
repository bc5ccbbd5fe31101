"""Put the figures of vocabularies of the same size into ``vocabularies.md``, as tables.

    python docs/results/vocabularies.py

In: ``gains.json`` (``benchmarks/study_auto.py`` on each corpus) and ``rivals.json``
(``benchmarks/study_rivals.py``). Out: the parts of the page between its markers.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "vocabularies.md"
CORPORA = {"mixed": "57 MB, 34 sources", "languages": "58 languages"}
SETTINGS = {"own": "own text", "unseen": "unseen documents", "foreign": "foreign sources"}
POLICIES = {
    "2,000 more Standard tokens": "2,000 more Standard tokens",
    "r = 0.40": "pruned by rank, r = 0.40",
    "auto, rank, exponent 0.83, newcomers 0.15, K = 1.8": "auto, by rank",
    "Standard, shortest": "Standard vocabulary, shortest",
    "auto, shortest, exponent 0.8, newcomers 0.2, K = 2.5": "**chosen for shortest**",
    "auto, shortest, exponent 1, newcomers 0, K = 4": "the same, trusting the corpus, K = 4 N",
}
SIZES = (4000, 8000, 16000, 32000, 64000)


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def with_tables(page: str) -> str:
    """Return the page with its tables made again."""
    gains = json.loads((HERE / "gains.json").read_text(encoding="utf-8"))
    rivals = json.loads((HERE / "rivals.json").read_text(encoding="utf-8"))
    page = filled(page, "gains", "\n\n".join(gain_tables(gains)))
    page = filled(page, "worst", worst_table(gains))
    return filled(page, "rivals", "\n\n".join(rival_tables(rivals["rows"])))


def gain_tables(gains: dict[str, Any]) -> list[str]:
    """One table for each corpus and kind of text: a row for each policy, a column for each size."""
    tables = []
    for corpus, about in CORPORA.items():
        for setting, name in SETTINGS.items():
            sizes = [size for size in SIZES if f"{setting} {size}" in gains[corpus]["r = 0.40"]]
            rows = [
                [title, *(f"{gains[corpus][key][f'{setting} {size}']:.2f}" for size in sizes)]
                for key, title in POLICIES.items()
            ]
            if sizes:
                head = ["vocabulary", *(f"{size:,}" for size in sizes)]
                tables.append(table(f"{about}, {name}", head, rows))
    return tables


def worst_table(gains: dict[str, Any]) -> str:
    """The gain of the source that gains least, on own text."""
    rows = []
    for corpus, about in CORPORA.items():
        for key, title in POLICIES.items():
            if key.startswith("auto"):
                cells = [gains[corpus][key][f"worst source {size}"] for size in SIZES]
                rows.append([about, title, *(f"{cell:+.2f}" for cell in cells)])
    sizes = [f"{size:,}" for size in SIZES]
    return table("Gain of the source that gains least", ["corpus", "vocabulary", *sizes], rows)


def rival_tables(rows: list[dict[str, Any]]) -> list[str]:
    """One table: own segmentation / fewest tokens, for each corpus and size, and what it costs."""
    places = list(dict.fromkeys((row["corpus"], row["size"]) for row in rows))
    names = {"A": "57 MB", "multi": "58 languages"}
    head = ["method", *(f"{names[corpus]}, {size:,}" for corpus, size in places), "CPU s", "MB"]
    cells = {(row["corpus"], row["size"], row["method"]): row for row in rows}
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        found = [cells[(*place, method)] for place in places]
        gains = [next(iter(row["tokens"].values())) for row in found]
        cost = [spread(row[name] for row in found) for name in ("cpu", "rss_mb")]
        lines.append(
            [method, *(f"{g['own_gain']:.2f} / {g['fewest_gain']:.2f}" for g in gains), *cost]
        )
    return [table("Per cent fewer tokens: own segmentation / fewest tokens", head, lines)]


def spread(numbers: Any) -> str:
    """The smallest and the largest of some numbers."""
    low, *_, high = sorted(numbers)
    return f"{low:,.0f}–{high:,.0f}"


def table(title: str, head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table under a title."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return f"{title}:\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def filled(page: str, name: str, text: str) -> str:
    """Return the page with the part between two markers replaced."""
    begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    return re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n\n{text}\n\n{end}", page, flags=re.DOTALL)


if __name__ == "__main__":
    main()
