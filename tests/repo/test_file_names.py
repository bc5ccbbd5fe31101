"""Two files never share a base name for different ideas."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]

ONE_IDEA = {
    "__init__": "a package",
    "encode": "the verb on the command line, and the same verb in plain Python",
    "lower_bound": "the bound, and how plain Python evaluates it",
    "learn": "the verb on the command line, and the same verb in plain Python",
}
"""Names that several Python modules may have, and the one idea that they share."""


def shared_names(paths: list[Path]) -> dict[str, list[str]]:
    by_name = defaultdict(list)
    for path in paths:
        by_name[path.name].append(path.relative_to(CHECKOUT).as_posix())
    return {name: sorted(found) for name, found in by_name.items() if len(found) > 1}


def test_python_modules():
    paths = [path for path in (CHECKOUT / "src").rglob("*.py") if path.stem not in ONE_IDEA]
    assert shared_names(paths) == {}


def test_cpp_files():
    """A header and its source share a base name; two headers or two sources never do."""
    cpp = CHECKOUT / "cpp"
    assert shared_names(list(cpp.rglob("*.hpp"))) == {}
    assert shared_names(list(cpp.rglob("*.cpp"))) == {}
