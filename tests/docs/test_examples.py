"""Every example runs from any folder, succeeds, and writes only into the working folder."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    needs = re.search(r"^Needs: (.*)$", example.read_text(encoding="utf-8"), re.MULTILINE)
    for package in needs[1].split(", ") if needs else ():
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    done = subprocess.run(
        [sys.executable, str(example)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebook_is_stored_without_outputs(notebook: Path) -> None:
    """They run in ``tests/integrations/test_notebooks.py``."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    for cell in code:
        assert cell["outputs"] == [] and cell["execution_count"] is None
        compile("".join(cell["source"]), str(notebook), "exec")
