"""The pretokenizer ``reference`` cuts as the implementation released with the paper."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from prunedbpe.pretokenizers import Pretokenizer

CHECKOUT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def golden_rows() -> list[dict]:
    folder = Path(os.environ.get("PRUNEDBPE_GOLDEN", CHECKOUT.parent / "shared" / "golden"))
    path = folder / "chunks.jsonl"
    if not path.is_file():
        pytest.skip(f"no golden data: {path} does not exist (set PRUNEDBPE_GOLDEN)")
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_row_is_cut_alike(golden_rows: list[dict]) -> None:
    reference = Pretokenizer("reference")
    wrong = [row for row in golden_rows if reference.split(row["text"]) != row["chunks"]]
    assert golden_rows
    assert wrong == []
