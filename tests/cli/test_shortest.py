"""Automatic visibility on the command line: the shortest segmentation, sources and weights."""

from __future__ import annotations

import json

import pytest
from cli_helpers import make_text, same_tokenizer

from prunedbpe import Tokenizer, train

SHORTEST = ["--threshold", "auto", "--segmentation", "shortest"]


def test_train_and_prune(cli, corpus, tmp_path):
    words = ["--vocab-size", 500, *SHORTEST, "-o"]
    run = tmp_path / "run"
    ended = cli("train", corpus, *words, tmp_path / "tok", "--run-dir", run)
    assert "segmentation" in ended.err and "what 3 sources save against Standard BPE" in ended.err
    train([corpus], 500, threshold="auto", segmentation="shortest").save(tmp_path / "same")
    assert same_tokenizer(tmp_path / "tok", tmp_path / "same")
    cli("prune", run, *words, tmp_path / "pruned")
    assert same_tokenizer(tmp_path / "tok", tmp_path / "pruned")
    ids = cli("encode", tmp_path / "tok", stdin=b"taenio\n").json["ids"]
    assert ids == Tokenizer.load(tmp_path / "tok").encode("taenio")
    cells = cli("sweep", run, "--vocab-size", 500, "--segmentation", "shortest", "--json").json
    by_threshold = {cell["threshold"]: cell["encoded_length"] for cell in cells["cells"]}
    assert min(by_threshold, key=by_threshold.__getitem__) == "auto"


def test_gains_by_source_are_listed_worst_first(cli, corpus, tmp_path):
    ended = cli("train", corpus, "--vocab-size", 500, *SHORTEST, "-o", tmp_path / "t", "--json")
    auto = ended.json["training"]["auto"]
    assert [row["source"].rsplit("/")[-1] for row in auto["gains"]] != []
    gains = [row["gain"] for row in auto["gains"]]
    assert gains == sorted(gains) and auto["harmed"] == []
    shown = [line for line in ended.err.splitlines() if line.strip().endswith("%")]
    assert f"{gains[0]:.3%}" in shown[-3]


def test_merges_alone_need_the_counts(cli, corpus, tmp_path):
    counts, merges = tmp_path / "counts.parquet", tmp_path / "merges.parquet"
    cli("count", corpus, "-o", counts)
    cli("learn", counts, "--merges", 600, "-o", merges)
    words = ["--vocab-size", 500, *SHORTEST, "-o", tmp_path / "tok"]
    ended = cli("prune", merges, *words, code=1)
    assert "needs the corpus, not only merges" in ended.err and "--counts" in ended.err
    cli("prune", merges, "--counts", counts, *words)
    assert Tokenizer.load(tmp_path / "tok").segmentation == "shortest"
    other = tmp_path / "other.parquet"
    cli("count", corpus / "a.txt", "-o", other)
    ended = cli("prune", merges, "--counts", other, *words, code=1)
    assert "the merges were learned on other chunk counts" in ended.err
    ended = cli("sweep", merges, "--vocab-size", 500, "--segmentation", "shortest", code=1)
    assert "give the run directory" in ended.err


def test_choosing_for_a_domain(cli, corpus, tmp_path):
    cli("train", corpus, "--vocab-size", 500, "--run-dir", tmp_path / "run", "-o", tmp_path / "tok")
    words = ["--for", corpus / "b.txt", "--vocab-size", 400, "--segmentation", "shortest"]
    ended = cli("prune", tmp_path / "run", *words, "-o", tmp_path / "domain")
    assert "domain length" in ended.err
    assert Tokenizer.load(tmp_path / "domain").segmentation == "shortest"
    assert (tmp_path / "domain" / "id_map.json").exists()


@pytest.fixture
def documents(tmp_path):
    """One JSONL file whose documents name their language, in turns."""
    lines = zip(make_text(0, 300).splitlines(), make_text(1, 300).splitlines(), strict=True)
    path = tmp_path / "texts.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for pair in lines:
            for lang, text in zip(("aa", "bb"), pair, strict=True):
                file.write(json.dumps({"text": text, "lang": lang}) + "\n")
    return path


def test_sources_by_field_with_weights(cli, documents, tmp_path):
    words = ["train", documents, "--vocab-size", 420, "--threshold", "auto", "--json", "-q"]
    words += ["--source-field", "lang"]
    plain = cli(*words, "-o", tmp_path / "plain").json["training"]["auto"]
    assert plain["source_kind"] == "field:lang"
    assert {row["source"] for row in plain["gains"]} == {"aa", "bb"}
    weights = tmp_path / "weights.tsv"
    weights.write_text("bb\t20\n", encoding="utf-8")
    weighted = cli(*words, "--source-weights", weights, "-o", tmp_path / "weighted").json
    gain = {row["source"]: row["gain"] for row in weighted["training"]["auto"]["gains"]}
    assert gain["bb"] > next(row["gain"] for row in plain["gains"] if row["source"] == "bb")
    weights.write_text("cc\t20\n", encoding="utf-8")
    ended = cli(*words, "--source-weights", weights, "-o", tmp_path / "wrong", code=1)
    assert "no source has that name" in ended.err and "'aa', 'bb'" in ended.err
    ended = cli(*words[:-1], "language", "-o", tmp_path / "wrong", code=1)
    assert "language" in ended.err


def test_options_of_auto_need_auto(cli, corpus, tmp_path):
    words = ["train", corpus, "--vocab-size", 500, "-o", tmp_path / "tok"]
    ended = cli(*words, "--trust-corpus", code=1)
    assert "needs the threshold auto" in ended.err
    ended = cli(*words, "--segmentation", "longest", code=2)
    assert "'rank', 'shortest'" in ended.err
