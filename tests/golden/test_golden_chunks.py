"""The pretokenizer ``reference`` cuts as the implementation released with the paper."""

from __future__ import annotations

import json

from prunedbpe.pretokenizers import Pretokenizer


def test_every_row_is_cut_alike(golden):
    with (golden / "chunks.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    reference = Pretokenizer("reference")
    assert rows
    assert [row for row in rows if reference.split(row["text"]) != row["chunks"]] == []
