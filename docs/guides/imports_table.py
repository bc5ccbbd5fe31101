"""Put the results of ``tools/check_imports.py`` on published tokenizers into ``exchange.md``.

    python docs/guides/imports_table.py

In: ``imports.json``. Out: the part of the page between the markers ``imports``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE / "exchange.md"


def main() -> None:
    """Write the table into the page."""
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def with_table(page: str) -> str:
    """Return the page with its table made again."""
    rows = json.loads((HERE / "imports.json").read_text(encoding="utf-8"))["rows"]
    table = "\n".join(
        ["| family | file | package | status |", "| --- | --- | --- | --- |", *map(line, rows)]
    )
    markers = re.compile(r"(<!-- imports -->\n).*?(\n<!-- end of imports -->)", re.DOTALL)
    new, count = markers.subn(lambda found: f"{found[1]}{table}{found[2]}", page)
    if count != 1:
        raise SystemExit("the page has no markers 'imports'")
    return new


def line(row: dict[str, Any]) -> str:
    """Return the line of one file."""
    if row["status"] == "equal":
        status = f"equal to {row['library']} on {row['texts']:,} texts"
        status += f"; {row['note']}" if row["note"] else ""
    else:
        status = f"refused: {row['reason']}"
    return f"| {row['family']} | `{row['original']}` | {row['package']} | {status} |"


if __name__ == "__main__":
    main()
