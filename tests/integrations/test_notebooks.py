"""Every example notebook runs in Jupyter, in less than a minute, and shows results as tables."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's event loop
def test_notebook_runs(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}
    )
    started = time.process_time()
    client.execute()
    assert time.process_time() - started < 60
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    kinds = {output.output_type for output in outputs}
    assert kinds <= {"execute_result", "display_data"}, "a warning or a print"  # bars are displayed
    outputs = [output for output in outputs if output.output_type == "execute_result"]
    tables = [output.data for output in outputs if "text/html" in output.data]
    assert len(tables) >= 3
    for data in tables:
        assert "\n" not in data["text/plain"]
