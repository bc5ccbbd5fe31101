"""``inspect --against`` and ``inspect --visible``."""

import pytest

from prunedbpe import MergeTable, Tokenizer, count, prune
from prunedbpe.analysis.comparison import compare
from prunedbpe.analysis.inspection import exposures_on_corpus
from prunedbpe.visibility.exposure import exposure


@pytest.fixture(scope="module")
def pruned(trained, corpus, tmp_path_factory):
    """Standard BPE and automatic visibility out of one run."""
    folder = tmp_path_factory.mktemp("pruned")
    merges = MergeTable.load(trained / "run" / "merges.parquet")
    prune(merges, 400, threshold=0).save(folder / "standard")
    prune(merges, 400, threshold="auto").save(folder / "auto")
    return folder


def test_a_comparison_on_the_run(cli, trained, pruned):
    words = ["inspect", pruned / "standard", "--against", pruned / "auto", "--run", trained / "run"]
    found = cli(*words, "--json").json
    merges = MergeTable.load(trained / "run" / "merges.parquet")
    tokenizers = [Tokenizer.load(pruned / name) for name in ("standard", "auto")]
    assert found == compare(*tokenizers, merges.applied).as_settings()
    out = cli(*words, "--limit", 2).out
    assert f"{found['length_before']:,} tokens -> {found['length_after']:,} tokens (-" in out
    assert f"shown instead: {len(found['shown'])}" in out
    shown = cli(*words, "--limit", 0).out
    assert len(shown.splitlines()) > len(out.splitlines())


def test_a_comparison_on_a_corpus(cli, pruned, corpus):
    words = ["inspect", pruned / "standard", "--against", pruned / "auto"]
    found = cli(*words, "--corpus", corpus / "b.txt", "--json").json
    text = (corpus / "b.txt").read_text(encoding="utf-8").splitlines()
    for key, name in (("length_before", "standard"), ("length_after", "auto")):
        assert found[key] == sum(map(Tokenizer.load(pruned / name).count_tokens, text))


def test_a_comparison_needs_text_of_the_same_merges(cli, trained, pruned, corpus, tmp_path):
    words = ["inspect", pruned / "standard", "--against", pruned / "auto"]
    assert "give --corpus or --run" in cli(*words, code=1).err
    cli("train", corpus / "c.txt", "--vocab-size", 400, "-o", tmp_path / "t", "--run-dir", tmp_path)
    assert "not one merge list" in cli(*words, "--run", tmp_path, code=1).err


def test_every_visible_learned_token_with_its_exposure(cli, trained, pruned):
    merges = MergeTable.load(trained / "run" / "merges.parquet")
    for name in (trained / "tok", pruned / "auto"):
        tok = Tokenizer.load(name)
        words = ["inspect", name, "--visible", "--run", trained / "run", "--limit", 0]
        tokens = cli(*words, "--json").json
        assert sorted(t["token_id"] for t in tokens) == list(range(256, tok.vocab_size - 4))
        merge_count = tok.training.get("trained_vocab", 256 + len(tok.vocabulary.pairs)) - 256
        measured = exposure(merges.pairs, merges.applied, merge_count)
        assert [t["exposure"] for t in tokens] == [int(measured[t["rank"]]) for t in tokens]
        exposures = [t["exposure"] for t in tokens]
        assert exposures == sorted(exposures, reverse=True)
        least = tok.training.get("min_exposure", tok.training["least_visible_exposure"])
        assert exposures[-1] >= least
        out = cli(*words).out
        assert len(out.splitlines()) == 1 + len(tokens)
    assert exposures[-1] == least  # automatic visibility reports the very figure


def test_visible_tokens_on_any_text_or_none(cli, pruned, corpus):
    tok = Tokenizer.load(pruned / "auto")
    words = ["inspect", pruned / "auto", "--visible", "--limit", 3]
    tokens = cli(*words, "--corpus", corpus / "b.txt", "--json").json
    table = exposures_on_corpus(tok, count(corpus / "b.txt"))
    assert [t["exposure"] for t in tokens] == [int(table.by_rank[t["rank"]]) for t in tokens]
    ended = cli(*words)
    assert len(ended.out.splitlines()) == 4 and "give --run or --corpus" in ended.err
    assert "only one of" in cli(*words, "--internal", code=2).err
    assert "leave out the single token" in cli(*words, "--id", 3, code=2).err
