"""The golden results in the repository are complete and as they were made."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

DATA = Path(__file__).parent / "data"


def test_no_file_changed():
    summary = json.loads((DATA / "summary.json").read_text(encoding="utf-8"))
    made = {path for path in DATA.rglob("*") if path.is_file()}
    made -= {DATA / "README.md", DATA / "summary.json"}
    hashes = {
        path.relative_to(DATA).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in made
    }
    assert hashes == summary["sha256"]
