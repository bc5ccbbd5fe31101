"""The page of the study shows what its JSON files hold."""

import json
import runpy
from pathlib import Path

import pytest

from prunedbpe.report.render import write_report
from prunedbpe.report.results import load_results

RESULTS = Path(__file__).parents[2] / "docs" / "results"
FIGURES = Path(__file__).parents[2] / "src" / "prunedbpe" / "report" / "paper_figures.json"


def test_the_report_of_the_study_is_fresh(tmp_path):
    study = RESULTS / "study"
    write_report(load_results(study / "study.json"), tmp_path)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(path.name for path in study.iterdir())
    for name in made:
        assert (tmp_path / name).read_bytes() == (study / name).read_bytes(), (
            "run prunedbpe paper --from docs/results/study/study.json -o docs/results/study"
        )


def test_tables_beside_the_paper_are_fresh():
    page = (RESULTS / "index.md").read_text(encoding="utf-8")
    script = runpy.run_path(str(RESULTS / "beside_paper.py"))
    assert script["with_tables"](page) == page, "run docs/results/beside_paper.py"


def test_figures_of_the_paper_agree_with_each_other():
    # Lengths are rounded to a thousand tokens, reductions to 0.01 %.
    paper = json.loads(FIGURES.read_text(encoding="utf-8"))
    assert (len(paper["lengths"]), len(paper["internal"])) == (28, 12)
    for cell in paper["lengths"]:
        lengths = cell["millions"]
        for threshold, reduction in cell["reduction"].items():
            exact = 100 * (1 - lengths[threshold] / lengths["Standard"])
            assert abs(exact - reduction) < 0.0056, cell


def test_tables_of_vocabularies_are_fresh():
    page = (RESULTS / "vocabularies.md").read_text(encoding="utf-8")
    script = runpy.run_path(str(RESULTS / "vocabularies.py"))
    assert script["with_tables"](page) == page, "run docs/results/vocabularies.py"


@pytest.mark.skipif(
    not (RESULTS / "language-model.md").exists(), reason="the study has no page until it was run"
)
def test_page_of_the_language_models_is_fresh():
    page = (RESULTS / "language-model.md").read_text(encoding="utf-8")
    script = runpy.run_path(str(RESULTS / "language_model.py"))
    assert script["with_figures"](page) == page, "run docs/results/language_model.py"
