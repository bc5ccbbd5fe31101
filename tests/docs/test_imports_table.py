"""The table of published tokenizers shows what its JSON file holds."""

import json
import runpy
from pathlib import Path

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


def test_table_is_fresh():
    page = (GUIDES / "exchange.md").read_text(encoding="utf-8")
    script = runpy.run_path(str(GUIDES / "imports_table.py"))
    assert script["with_table"](page) == page, "run docs/guides/imports_table.py"


def test_every_row_has_a_result():
    rows = json.loads((GUIDES / "imports.json").read_text(encoding="utf-8"))["rows"]
    for row in rows:
        assert row["status"] in ("equal", "refused"), row
        assert row["texts"] >= 5000 if row["status"] == "equal" else row["reason"], row
    places = [(row["family"], row["original"], row["package"]) for row in rows]
    assert len(set(places)) == len(places)
