"""Put the cells of the paper beside those of the study, as tables in ``index.md``.

    python docs/results/beside_paper.py

In: the figures of the paper, which the package holds, and ``study/study.json`` (our run). Out: the
part of ``index.md`` between the markers.
"""

from __future__ import annotations

import re
from pathlib import Path

from prunedbpe.report.paper_figures import PaperFigures
from prunedbpe.report.results import load_results
from prunedbpe.report.tables import as_markdown

HERE = Path(__file__).parent
PAGE = HERE / "index.md"


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def with_tables(page: str) -> str:
    """Return the page with its tables made again."""
    paper = PaperFigures(load_results(HERE / "study" / "study.json"))
    tables = "\n".join(
        f"{table.title}. {table.caption}\n\n{as_markdown(table)}" for table in paper.tables()
    )
    filled = f"<!-- paper -->\n\n{tables}\n<!-- end paper -->"
    return re.sub("<!-- paper -->.*<!-- end paper -->", lambda _: filled, page, flags=re.DOTALL)


if __name__ == "__main__":
    main()
