"""``inspect``: a tokenizer, a token from all sides, and the list of internal tokens."""

from collections import Counter
from itertools import chain

import pytest

from prunedbpe import MergeTable, Tokenizer, count
from prunedbpe.analysis.inspection import exposures_on_corpus
from prunedbpe.visibility.exposure import exposure


@pytest.fixture(scope="module")
def tok(trained):
    return Tokenizer.load(trained / "tok")


@pytest.fixture(scope="module")
def hidden(tok):
    """The rank of an internal token."""
    return next(rank for rank, visible in enumerate(tok.vocabulary.visible) if not visible)


def test_overview(cli, trained, tok):
    out = cli("inspect", trained / "tok").out
    assert f"internal tokens         {tok.vocabulary.internal_count}\n" in out
    assert "<_EOS_> 496" in out and "fewer than Standard BPE" in out
    facts = cli("inspect", trained / "tok", "--json").json
    assert facts["vocab_size"] == 500 and facts["training"] == tok.training


def test_one_token_by_text_id_rank_and_bytes(cli, trained, tok, hidden):
    spelled = tok.vocabulary.strings[hidden]
    token_id = int(tok.vocabulary.token_ids[hidden])
    shown = [
        cli("inspect", trained / "tok", *words, "--json").json
        for words in (["--id", token_id], ["--rank", hidden], ["--hex", spelled.hex(" ")])
    ]
    assert shown[0] == shown[1] == shown[2]
    report = shown[0]
    assert report["visibility"] == "internal" and report["exposure"] is None
    assert b"".join(bytes.fromhex(part["bytes"]) for part in report["expansion"]) == spelled
    assert all(part["token_id"] < tok.vocab_size for part in report["expansion"])
    assert [part["rank"] for part in report["built_from"]["parts"]] == (
        tok.vocabulary.pairs[hidden - 256].tolist()
    )
    assert {token["rank"] for token in report["parents"]} == set(tok.vocabulary.parents(hidden))
    for token in report["leads_to"]:
        assert token["visibility"] == "visible" and spelled in bytes.fromhex(token["bytes"])


def test_a_token_in_words(cli, trained, tok, hidden):
    out = cli("inspect", trained / "tok", "--rank", hidden, "--run", trained / "run").out
    for title in ("token", "bytes", "id", "rank", "visibility", "exposure", "expands into"):
        assert f"\n{title} " in f"\n{out}"
    assert "part of" in out and "leads to" in out and "built from\n" in out and "└─" in out


def test_special_tokens_and_bytes(cli, trained):
    report = cli("inspect", trained / "tok", "--token", "<_EOS_>", "--json").json
    assert (report["visibility"], report["rank"], report["token_id"]) == ("special", None, 496)
    assert "special" in cli("inspect", trained / "tok", "--id", 496).out
    report = cli("inspect", trained / "tok", "--token", "d", "--json").json
    assert report["built_from"]["parts"] == [] and len(report["leads_to"]) > 1


def test_exposure_of_the_run_is_the_one_that_decided(cli, trained, tok):
    merges = MergeTable.load(trained / "run" / "merges.parquet")
    measured = exposure(merges.pairs, merges.applied, tok.training["trained_vocab"] - 256)
    for source in (trained / "run", trained / "run" / "merges.parquet"):
        words = ["inspect", trained / "tok", "--internal", "--limit", 9999, "--run", source]
        reports = cli(*words, "--json").json
        assert len(reports) == tok.vocabulary.internal_count
        assert [r["exposure"] for r in reports] == [int(measured[r["rank"]]) for r in reports]
        assert all(r["exposure"] < tok.training["min_exposure"] for r in reports)
        exposures = [r["exposure"] for r in reports]
        assert exposures == sorted(exposures, reverse=True)


def test_exposure_on_any_corpus_is_what_encoding_gives(cli, trained, tok, corpus):
    words = ["inspect", trained / "tok", "--token", "a", "--corpus", corpus / "b.txt", "--json"]
    report = cli(*words).json
    table = exposures_on_corpus(tok, count(corpus / "b.txt"))
    assert report["exposure"] == int(table.by_rank[ord("a")])


def test_the_list_in_words(cli, trained, tok):
    ended = cli("inspect", trained / "tok", "--internal", "--limit", 3)
    assert len(ended.out.splitlines()) == 4 and "give --run or --corpus" in ended.err


def test_merges_of_another_run_are_refused(cli, trained, corpus, tmp_path):
    words = ["--vocab-size", 500, "--run-dir", tmp_path / "run", "-o", tmp_path / "tok"]
    cli("train", corpus / "c.txt", *words)
    ended = cli("inspect", trained / "tok", "--internal", "--run", tmp_path / "run", code=1)
    assert "not one merge list" in ended.err


@pytest.mark.parametrize(
    "words",
    [
        ["--id", 3, "--rank", 3],
        ["--internal", "--id", 3],
        ["--id", 3, "--run", "r", "--corpus", "c"],
    ],
)
def test_choices_that_exclude_each_other(cli, trained, words):
    assert cli("inspect", trained / "tok", *words, code=2).err.startswith("error: ")


def test_a_tokenizer_that_takes_the_fewest_tokens(cli, trained, tok, hidden, corpus, tmp_path):
    shortest = Tokenizer(tok.vocabulary, tok.pretokenizer, tok.training, "shortest")
    shortest.save(tmp_path)
    assert "segmentation            shortest\n" in cli("inspect", tmp_path).out
    assert cli("inspect", trained / "tok", "--json").json["segmentation"] == "rank"

    out = cli("inspect", tmp_path, "--rank", hidden, "--corpus", corpus / "a.txt").out
    assert "exposure       0\n" in out and "fewest tokens" in out and "expands" not in out
    lines = (corpus / "a.txt").read_text().splitlines()
    seen = Counter(chain.from_iterable(shortest.encode_batch(lines)))
    words = ["--visible", "--limit", 0, "--corpus", corpus / "a.txt", "--json"]
    tokens = cli("inspect", tmp_path, *words).json
    assert {t["token_id"]: t["exposure"] for t in tokens if t["exposure"]} == {
        token_id: uses for token_id, uses in seen.items() if token_id >= 256
    }
    ended = cli("inspect", tmp_path, "--internal", "--run", trained / "run", code=1)
    assert "exposures by rank" in ended.err and "--corpus" in ended.err
    words = ["--against", tmp_path, "--run", trained / "run"]
    assert "evaluate" in cli("inspect", trained / "tok", *words, code=1).err
