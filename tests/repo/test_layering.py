"""A stage imports only stages to its left, and what all stages share."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "prunedbpe"

SHARED = (
    "types",
    "records",
    "arrays",
    "errors",
    "progress",
    "files",
    "tables",
    "threads",
    "byte_alphabet",
    "_core",
)
"""What every stage may import; of one another they may import what stands before them."""

STAGES = (
    "corpus",
    "pretokenize",
    "count",
    "learn",
    "visibility",
    "vocabulary",
    "baselines",
    "export",
    "streaming",
    "surrogates",
    "shortest",
    "tokenizer",
    "encoding_files",
    "columns",
    "integrations",
    "pruning",
    "train",
    "inspection",
    "comparison",
    "retargeting",
    "sweeping",
    "audit",
    "evaluate",
    "report",
    "cli",
    "__main__",
)
"""The order, written down once. A stage may import those before it."""

ONE_STAGE = {"facade": "tokenizer", "imports": "tokenizer"}
"""The methods of tiktoken and the tokenizers of others: the tokenizer from two more sides."""

ANYWHERE = ("reference", "__init__")
"""The plain Python stands beside the stages (see below); the front door opens on all of them."""


def stage_of(path: Path) -> str:
    part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return ONE_STAGE.get(part, part)


def imports(path: Path) -> set[str]:
    """The parts of the package that a file imports, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
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
    return {ONE_STAGE.get(part, part) for part in found}


FILES = sorted(PACKAGE.rglob("*.py"))


def test_every_part_has_its_place():
    known = {*SHARED, *STAGES, *ANYWHERE}
    assert {stage_of(path) for path in FILES} - known == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_to_the_left(path):
    stage = stage_of(path)
    if stage == "__init__":
        return
    if stage == "reference":
        # The oracle must not lean on what it is held against.
        allowed = {"types", "errors", "reference"}
    elif stage in SHARED:
        allowed = {*SHARED[: SHARED.index(stage)]} - {"_core"}
    else:
        allowed = {*SHARED, *STAGES[: STAGES.index(stage) + 1]}
        if stage in ("cli", "evaluate", "report"):
            allowed |= {"__version__", "reference"}
    assert imports(path) - allowed == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_numpy_comes_when_it_is_used(path):
    """At its top, a file imports it from ``prunedbpe.arrays``, or for the type checker alone."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        assert not any(name.split(".")[0] == "numpy" for name in names)


def test_importing_the_package_is_quick():
    """Heavier packages are imported where they are used, not when the package is."""
    heavy = ("pyarrow", "rich", "typer", "regex", "zstandard", "matplotlib", "tiktoken", "asyncio")
    program = f"import sys, prunedbpe; sys.exit(str([m for m in {heavy!r} if m in sys.modules]))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stderr.strip() == "[]"
