"""The map from the paper to the code names only what exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_path_exists() -> None:
    text = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[\w-]+/)*[\w-]+(?:\.py|/[\w-]+))`", text)
    assert named
    roots = (ROOT, ROOT / "src", ROOT / "src" / "prunedbpe")
    missing = [path for path in named if not any((root / path).exists() for root in roots)]
    assert not missing


def test_every_function_of_the_oracle_exists() -> None:
    text = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
    for module, functions in re.findall(r"`reference/(\w+\.py)`: ([^|]*)", text):
        source = (ROOT / "src" / "prunedbpe" / "reference" / module).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)", functions):
            assert f"def {name}(" in source, f"{module} has no {name}"
