"""``prune --for``: a vocabulary for a domain, and the map between the ids."""

import json

import pytest

from prunedbpe import MergeTable, Tokenizer, count, id_map, prune, retarget


@pytest.fixture
def merges(trained):
    return MergeTable.load(trained / "run" / "merges.parquet")


def test_a_vocabulary_for_a_domain(cli, trained, corpus, merges, tmp_path):
    words = ["--for", corpus / "b.txt", "--vocab-size", 400, "-o", tmp_path / "tok"]
    ended = cli("prune", trained / "run", *words, "--base", trained / "tok")
    assert "domain length" in ended.err
    made = Tokenizer.load(tmp_path / "tok")
    expected = retarget(merges, count(corpus / "b.txt"), 400)
    assert made.vocab_bytes() == expected.vocab_bytes() and made.training == expected.training
    found = json.loads((tmp_path / "tok" / "id_map.json").read_text(encoding="utf-8"))
    assert found == id_map(Tokenizer.load(trained / "tok"), made).as_settings()


def test_the_base_is_standard_bpe_by_default(cli, trained, corpus, merges, tmp_path):
    words = ["--for", corpus / "a.txt", "--for", corpus / "b.txt", "--vocab-size", 400]
    cli("prune", trained / "run" / "merges.parquet", *words, "-o", tmp_path / "tok")
    found = json.loads((tmp_path / "tok" / "id_map.json").read_text(encoding="utf-8"))
    made = Tokenizer.load(tmp_path / "tok")
    assert found == id_map(prune(merges, 400, threshold=0), made).as_settings()


@pytest.mark.parametrize(
    "words, message",
    [
        (["--base", "tok"], "--base is given without --for"),
        (["--for", "b.txt", "--max-train-vocab", 900], "from the existing merges"),
        (["--for", "b.txt", "--vocab-size", 9000], "merges were learned"),
    ],
)
def test_errors(cli, trained, corpus, tmp_path, words, message):
    words = [corpus / word if word == "b.txt" else word for word in words]
    if "--vocab-size" not in words:
        words = [*words, "--vocab-size", 400]
    ended = cli("prune", trained / "run", *words, "-o", tmp_path / "tok", code=1)
    assert message in ended.err and "hint: " in ended.err


def test_a_base_of_other_merges_is_refused(cli, trained, corpus, tmp_path):
    cli("train", corpus / "c.txt", "--vocab-size", 400, "-o", tmp_path / "base")
    words = ["--for", corpus / "b.txt", "--vocab-size", 400, "--base", tmp_path / "base"]
    ended = cli("prune", trained / "run", *words, "-o", tmp_path / "tok", code=1)
    assert "not one merge list" in ended.err
