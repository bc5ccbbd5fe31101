"""``sweep``: cells, advice, and the files it writes."""

import csv
import xml.etree.ElementTree as ET

import pytest

from prunedbpe import MergeTable, sweep
from prunedbpe.analysis.sweeping import SizeAdvice, SweepCell
from prunedbpe.report.sweep_plot import draw_sweep

SIZES = ["--vocab-size", 400, "--vocab-size", 500]


def test_the_cells_are_those_of_the_library(cli, trained):
    found = cli("sweep", trained / "run", *SIZES, "--threshold", "40%", "--json").json
    merges = MergeTable.load(trained / "run" / "merges.parquet")
    assert found["cells"] == [c.as_row() for c in sweep(merges, [400, 500], ["40%"])]
    assert found["suggested_sizes"] == [] and found["growth"] == {}


def test_a_table_for_people(cli, trained, corpus):
    words = ["--corpus", f"b={corpus / 'b.txt'}", "--corpus", f"b={corpus / 'c.txt'}"]
    ended = cli("sweep", trained / "run", *SIZES, *words)
    lines = ended.out.splitlines()
    assert lines[0].split()[:3] == ["corpus", "size", "threshold"]
    assert len(lines) == 1 + 2 * 5 * 2
    assert {line.split()[0] for line in lines[1:]} == {"training", "b"}
    assert cli("sweep", trained / "run" / "merges.parquet", *SIZES).out.count("auto") == 2


def test_the_trained_size_is_there(cli, trained):
    found = cli("sweep", trained / "run", "--threshold", "0", "--json").json
    sizes = [cell["vocab_size"] for cell in found["cells"]]
    assert 500 in sizes and sizes == found["trained_sizes"]
    ended = cli("sweep", trained / "run", "--threshold", "auto")
    assert f"trained size: {', '.join(map(str, sizes))}\n" in ended.err


def test_csv(cli, trained, tmp_path):
    words = [
        *SIZES,
        "--threshold",
        "20%",
        "--threshold",
        "9999%",
        "--csv",
        tmp_path / "x" / "c.csv",
    ]
    ended = cli("sweep", trained / "run", *words, "--json")
    with (tmp_path / "x" / "c.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["vocab_size"]) for row in rows] == [400, 400, 500, 500]
    assert rows[0]["encoded_length"] == str(ended.json["cells"][0]["encoded_length"])
    assert rows[1]["encoded_length"] == "" and "learned tokens have an exposure" in rows[1]["note"]


def test_a_threshold_that_cannot_be_met_is_reported(cli, trained):
    ended = cli("sweep", trained / "run", "--vocab-size", 500, "--threshold", "9999%")
    assert ended.out.splitlines()[1].split()[3] == "-"
    assert "500 at 9999%: " in ended.err


def test_a_picture(cli, trained, tmp_path):
    cli("sweep", trained / "run", *SIZES, "--plot", tmp_path / "curves.svg")
    text = (tmp_path / "curves.svg").read_text(encoding="utf-8")
    ET.fromstring(text)
    assert "Pruning: training" in text and ">40%<" in text and "auto, 500: " in text
    assert ">trained: 500<" in text


def test_trained_sizes_are_marked(tmp_path):
    cells = [
        SweepCell("own", size, threshold, "rank", reduction=reduction)
        for size in (8000, 16000)
        for threshold, reduction in (("0", 0.0), ("40%", 0.01))
    ]
    advice = SizeAdvice([], [], None, [])
    draw_sweep(cells, advice, tmp_path / "x.svg", trained=[16000, 32000])
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert ">trained: 16,000<" in text and "32,000" not in text
    assert ">40%<" in text and text.count("<circle") == 2  # threshold 0 is the zero line


@pytest.mark.parametrize(
    "words, message",
    [
        (["--vocab-size", 90000], "merges were learned"),
    ],
)
def test_errors(cli, trained, words, message):
    if "--vocab-size" not in words:
        words = [*SIZES, *words]
    ended = cli("sweep", trained / "run", *words, code=1)
    assert message in ended.err and "hint: " in ended.err


def test_too_few_merges_to_advise(cli, trained):
    ended = cli("sweep", trained / "run" / "merges.parquet", code=1)
    assert "too few to find where growth flattens" in ended.err


def test_another_ending_than_png_or_svg(cli, trained, tmp_path):
    ended = cli("sweep", trained / "run", *SIZES, "--plot", tmp_path / "x.doc", code=1)
    assert "not a .png or .svg file" in ended.err


def test_bounds(cli, trained):
    words = ["sweep", trained / "run", "--vocab-size", 400, "--threshold", 0, "--threshold", "auto"]
    plain, bounded = cli(*words, "--json").json, cli(*words, "--bound", "--json").json
    assert bounded["cells"] == plain["cells"] and plain["bounds"] == {}
    shortest = min(cell["encoded_length"] for cell in bounded["cells"])
    [bounds] = bounded["bounds"].values()
    assert bounds["of_any"]["tokens"] <= bounds["of_candidates"]["tokens"] <= shortest
    assert bounds["of_any"]["tokens"] > 0.9 * shortest
    last = cli(*words, "--bound", "-q").out.splitlines()[-1]
    assert last.startswith("400 at auto: within ") and "any vocabulary with 140 learned" in last


def test_a_bound_needs_the_corpus(cli, trained):
    ended = cli("sweep", trained / "run" / "merges.parquet", *SIZES, "--bound", code=1)
    assert "a bound needs the corpus" in ended.err
