"""``prunedbpe evaluate``: a table for people, JSON for programs, plots."""

import xml.etree.ElementTree as ET
from importlib.util import find_spec

import pytest


@pytest.fixture
def two(cli, trained, tmp_path):
    cli(
        "prune", trained / "run", "--vocab-size", 500, "--threshold", 0, "-o", tmp_path / "standard"
    )
    return tmp_path / "standard", trained / "tok"


def test_table(cli, two, corpus):
    ended = cli("evaluate", *two, "--corpus", f"c={corpus}", "--bootstrap", 10, "-q")
    lines = ended.out.splitlines()
    assert lines[0].split()[:4] == ["corpus", "tokenizer", "vocab", "tokens"]
    assert lines[1].split()[:2] == ["c", "standard"] and "0.000%" in lines[1]
    assert lines[2].split()[:2] == ["c", "tok"]
    assert any(line.startswith("characters per token") for line in lines)


def test_a_corpus_has_the_name_of_its_file(cli, two, corpus):
    ended = cli("evaluate", *two, "--corpus", corpus, "--bootstrap", 0, "--json", "-q")
    assert {row["corpus"] for row in ended.json} == {corpus.stem}


def test_json_and_plots(cli, two, corpus, tmp_path):
    ended = cli(
        "evaluate", *two, "--corpus", f"c={corpus}", "--json", "--plots", tmp_path / "plots"
    )
    first, second = ended.json
    assert first["tokenizer"] == "standard" and second["reduction"] > 0
    low, high = second["reduction_interval"]
    assert low <= second["reduction"] <= high
    assert {"1", "10", "100", "1000"} == set(second["spread"]["seen_under"])
    for name in ("reduction.svg", "exposure-1.svg"):
        drawing = ET.parse(tmp_path / "plots" / name).getroot()
        assert drawing.tag.endswith("svg") and drawing.get("role") == "img"
        png = (tmp_path / "plots" / name).with_suffix(".png")
        assert png.exists() == (find_spec("matplotlib") is not None)
    described = (tmp_path / "plots" / "reduction.svg").read_text(encoding="utf-8")
    assert f"tok {100 * second['reduction']:.2f} %" in described


def test_one_segmentation_for_all(cli, two, corpus):
    words = ["evaluate", *two, "--corpus", f"c={corpus}", "--bootstrap", 0, "--json"]
    own, shortest = cli(*words).json, cli(*words, "--segmentation", "shortest").json
    assert [row["segmentation"] for row in own] == ["rank", "rank"]
    assert [row["segmentation"] for row in shortest] == ["shortest", "shortest"]
    assert [row["tokens"] for row in shortest] == [row["shortest"] for row in own]


def test_the_same_twice(cli, two, corpus):
    ended = cli("evaluate", two[0], two[0], "--corpus", f"c={corpus}", code=1)
    assert "given twice" in ended.err


def test_bounds(cli, two, corpus):
    words = ["evaluate", *two, "--corpus", f"c={corpus}", "--bootstrap", 0, "--bound"]
    standard, pruned = cli(*words, "--json").json
    for row in (standard, pruned):
        bounds = row["bounds"]
        assert bounds["required"] == 240
        assert bounds["of_any"]["tokens"] <= bounds["of_candidates"]["tokens"] <= row["shortest"]
    # Standard BPE has no other candidates, so its choice is the best.
    assert standard["bounds"]["of_candidates"]["tokens"] == standard["shortest"]
    lines = cli(*words, "-q").out.splitlines()
    assert [line.split(": within")[0] for line in lines[-2:]] == ["c, standard", "c, tok"]
