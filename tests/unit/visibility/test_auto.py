"""Automatic visibility: what it chooses, what it reports, and that encoding agrees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cli_helpers import make_text
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, learn, prune
from prunedbpe.errors import InsufficientCandidatesError, SettingsError
from prunedbpe.training import prune_run
from prunedbpe.visibility.auto import NO_DISCOUNT, Discount, choose_visibility, hide, prices
from prunedbpe.visibility.exposure import encoded_length
from prunedbpe.visibility.policy import VisibilityPolicy

TEXTS = make_text(1, 1500).splitlines()
OTHER = make_text(2, 400).splitlines()


@pytest.fixture(scope="module")
def merges():
    return learn(prunedbpe.count(Corpus.from_texts(TEXTS)), 1200)


@pytest.fixture
def folder(tmp_path):
    """A corpus of four sources."""
    for seed in range(4):
        path = tmp_path / "texts" / f"{seed}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(make_text(seed % 2, 60), encoding="utf-8")
    return tmp_path / "texts"


def length_of(tokenizer, texts):
    return sum(map(tokenizer.count_tokens, texts))


@pytest.mark.parametrize("validated", [False, True])
def test_encoding_is_as_long_as_the_algebra_says(merges, validated):
    other = prunedbpe.replay(merges, prunedbpe.count(Corpus.from_texts(OTHER)))
    options = {"validation": other} if validated else {}
    tokenizer = prune(merges, 700, threshold="auto", **options)
    assert tokenizer.training["encoded_length"] == length_of(tokenizer, TEXTS)
    hidden = ~tokenizer.vocabulary.visible
    assert encoded_length(merges.pairs, other, hidden) == length_of(tokenizer, OTHER)
    if validated:
        assert tokenizer.training["auto"]["validation_length"] == length_of(tokenizer, OTHER)


@given(documents(), st.integers(0, 40), st.sampled_from(["none", "itself", "other"]))
def test_any_corpus_encodes_as_the_algebra_says(texts, required, validated):
    merges = learn(prunedbpe.count(Corpus.from_texts(texts)), 200)
    required = min(required, len(merges))
    other = prunedbpe.count(Corpus.from_texts(["the hat that 人民"]))
    validation = {"none": None, "itself": merges.applied, "other": other}[validated]
    tokenizer = prune(merges, 260 + required, threshold="auto", validation=validation)
    assert tokenizer.training["encoded_length"] == length_of(tokenizer, texts)
    assert tokenizer.vocab_size == 260 + required
    ids = {token_id for text in texts for token_id in tokenizer.encode(text)}
    assert all(token_id < tokenizer.vocab_size for token_id in ids)
    assert all(tokenizer.decode(tokenizer.encode(text)) == text for text in texts)


def test_what_is_reported(merges):
    report = prune(merges, 700, threshold="auto").training["auto"]
    assert report == {
        "candidates_learned": 1200,
        "sources": 0,
        "stopped": "enough candidates",
        "chosen_by": "rule",
        "candidates": 704,
        "candidate_ratio": 1.6,
        "spread_exponent": 0.35,
        "newcomer_discount": 0.15,
    }
    few = merges.head(600)
    assert prune(few, 700, threshold="auto").training["auto"]["stopped"] == "no more merges given"
    capped = prune(merges, 700, threshold="auto", max_train_vocab=256 + 500).training["auto"]
    assert (capped["candidates"], capped["stopped"]) == (500, "max_train_vocab reached")
    exhausted = learn(ChunkCounts.from_mapping({b"ab": 2, b"cd": 2}), 9)
    report = prune(exhausted, 261, threshold="auto", candidate_ratio=5).training["auto"]
    assert (report["candidates"], report["stopped"]) == (2, "no pair is left that occurs twice")


def test_the_validated_choice_is_the_shortest_of_those_tried(merges):
    report = prune(merges, 400, threshold="auto", validation=merges.applied).training["auto"]
    assert report["chosen_by"] == "validation"
    assert report["validation_length"] == min(t["validation_length"] for t in report["tried"])
    assert report["validation_length"] < report["validation_standard_length"]


def test_validation_may_only_be_counted(merges):
    counts = prunedbpe.count(Corpus.from_texts(OTHER))
    counted = prune(merges, 500, threshold="auto", validation=counts)
    replayed = prune(merges, 500, threshold="auto", validation=prunedbpe.replay(merges, counts))
    assert counted.vocab_bytes() == replayed.vocab_bytes()


def test_too_few_merges_or_too_little_room(merges):
    with pytest.raises(InsufficientCandidatesError, match="needs 140 learned tokens"):
        prune(merges.head(100), 400, threshold="auto")
    with pytest.raises(SettingsError, match="max_train_vocab=300 is below the 396"):
        prune(merges, 400, threshold="auto", max_train_vocab=300)
    with pytest.raises(SettingsError, match=r"candidate_ratio is 0\.5"):
        prune(merges, 400, threshold="auto", candidate_ratio=0.5)


def test_more_candidates_are_shorter_on_the_corpus_itself(merges):
    lengths = [
        encoded_length(merges.pairs, merges.applied, hide(merges, merges.applied, count, 300))
        for count in (300, 360, 420, 480)
    ]
    assert lengths == sorted(lengths, reverse=True) and lengths[0] > lengths[-1]


def test_prices(merges):
    assert (prices(merges, 500, 300, [], NO_DISCOUNT) == 1).all()
    worth = prices(merges, 500, 300, [], Discount(0.35, 0.15))
    assert (worth[:556] == 1).all() and np.allclose(worth[556:], 0.85)
    source = merges.applied
    nowhere = prunedbpe.Applied(np.zeros(256, np.int64), np.zeros(1200, np.int64))
    worth = prices(merges, 500, 300, [source, nowhere], Discount(0.5, 0.0))
    assert np.allclose(worth, 0.5**0.5)  # every token is at home in one of two sources


def test_a_token_of_one_source_gives_way_to_one_of_many():
    # Both stand 12 times in the corpus and are made of bytes; one in three sources, one in one.
    tables = [
        ChunkCounts.from_mapping(part)
        for part in ({b"ab": 4}, {b"ab": 4}, {b"ab": 4, b"cd": 13, b"ef": 30})
    ]
    sources = prunedbpe.SourceCounts.from_tables("abc", tables)
    merges = learn(sources.total, 3)
    plain = prune(merges, 258, threshold="auto", special_tokens=(), candidate_ratio=1.5)
    spread = prune(
        merges, 258, threshold="auto", special_tokens=(), candidate_ratio=1.5, sources=sources
    )
    strings = [b"ef", b"cd", b"ab"]
    assert merges.token_bytes[256:] == strings
    # The newcomer discount alone keeps what Standard BPE has; being in many sources outweighs it.
    assert plain.vocabulary.visible[256:].tolist() == [True, True, False]
    assert spread.vocabulary.visible[256:].tolist() == [True, False, True]


def test_extend_is_asked_for_no_more_than_is_needed(merges):
    asked = []

    class Candidates:
        def reach(self, merge_count):
            asked.append(merge_count)
            return merges

    auto = VisibilityPolicy("auto")
    assert choose_visibility(Candidates(), 300, auto).merge_count == 480 == max(asked)
    choose_visibility(Candidates(), 300, replace(auto, max_train_vocab=256 + 350))
    assert asked[-1] == 350


def test_a_run_resumed_and_pruned_gives_the_same_tokenizer(folder, tmp_path):
    options = {"vocab_size": 500, "threshold": "auto"}
    whole = prunedbpe.train(folder, **options)
    assert whole.training["auto"]["sources"] == 4
    run = tmp_path / "run"
    kept = prunedbpe.train(folder, run_dir=run, **options)
    again = prunedbpe.train(folder, run_dir=run, **options)
    later = prune_run(run, 500, threshold="auto")
    smaller = prune_run(run, 400, threshold="auto")
    for tokenizer in (kept, again, later):
        assert tokenizer.vocab_bytes() == whole.vocab_bytes()
        assert tokenizer.training == whole.training
    assert smaller.vocab_bytes() == prunedbpe.train(folder, 400, threshold="auto").vocab_bytes()


def test_a_run_begun_with_a_threshold_goes_on_with_auto(folder, tmp_path):
    prunedbpe.train(folder, 500, threshold="40%", run_dir=tmp_path / "run")
    tokenizer = prunedbpe.train(folder, 500, threshold="auto", run_dir=tmp_path / "run")
    whole = prunedbpe.train(folder, 500, threshold="auto")
    assert tokenizer.vocab_bytes() == whole.vocab_bytes()


def test_a_run_counts_again_where_another_kind_of_source_is_asked_for(folder, tmp_path):
    for sources, number in (("files", 4), ("folders", 1), ("corpus", 1), ("files", 4)):
        tokenizer = prunedbpe.train(
            folder, 500, threshold="auto", run_dir=tmp_path / "run", sources=sources
        )
        assert tokenizer.training["auto"]["sources"] == number
        whole = prunedbpe.train(folder, 500, threshold="auto", sources=sources)
        assert tokenizer.vocab_bytes() == whole.vocab_bytes()


def test_threads_do_not_matter(folder):
    one, three = (prunedbpe.train(folder, 450, threshold="auto", threads=n) for n in (1, 3))
    assert one.vocab_bytes() == three.vocab_bytes() and one.training == three.training
