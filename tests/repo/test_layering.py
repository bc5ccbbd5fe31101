"""A stage imports only stages to its left and the shared modules."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "prunedbpe"

SHARED = ("errors", "types", "_core", "_support")
"""Every stage may import these; each of them may import those before it."""

STAGES = (
    "corpus",
    "pretokenizers",
    "counts",
    "merges",
    "visibility",
    "vocabulary",
    "tokenizer",
    "training",
    "encoded",
    "exchange",
    "integrations",
    "baselines",
    "analysis",
    "report",
    "cli",
    "__main__",
)
"""The order of the pipeline. A stage may import those before it."""

ANYWHERE = ("reference", "__init__")
"""Not stages: the plain-Python reference, and the package itself, which exports all stages."""


def stage_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Return the parts of the package that a file imports, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            if node.module == "prunedbpe":
                found.update(alias.name for alias in node.names)
            elif (node.module or "").startswith("prunedbpe."):
                found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found.update(
                alias.name.split(".")[1]
                for alias in node.names
                if alias.name.startswith("prunedbpe.")
            )
    return found


FILES = sorted(PACKAGE.rglob("*.py"))


def test_every_part_is_listed():
    known = {*SHARED, *STAGES, *ANYWHERE}
    assert {stage_of(path) for path in FILES} - known == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_to_the_left(path):
    stage = stage_of(path)
    if stage == "__init__":
        return
    if stage == "reference":
        # The oracle must not depend on the code that it checks.
        allowed = {"types", "errors", "reference"}
    elif stage in SHARED:
        allowed = {*SHARED[: SHARED.index(stage) + 1]} - {"_core"}
    else:
        allowed = {*SHARED, *STAGES[: STAGES.index(stage) + 1]}
        if stage in ("cli", "report"):
            allowed |= {"__version__", "reference"}
    assert imports(path) - allowed == set()


def test_importing_the_package_is_quick():
    """`import prunedbpe` loads nothing but itself; names load their stage when first used."""
    heavy = {"numpy", "pyarrow", "rich", "typer", "regex", "matplotlib", "tiktoken", "asyncio"}
    heavy |= {"transformers", "prunedbpe._core"}
    program = f"import sys, prunedbpe; sys.exit(str(sorted({heavy!r} & set(sys.modules))))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stderr.strip() == "[]"
