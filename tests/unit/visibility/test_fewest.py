"""Choosing for the shortest segmentation: what users ask for and what they get."""

from __future__ import annotations

import base64
from dataclasses import asdict

import numpy as np
import pytest
from cli_helpers import make_text

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, learn, prune
from prunedbpe._support.checkpoint import NO_CHECKPOINT, Checkpoint
from prunedbpe._support.sealed_json import write_sealed
from prunedbpe.analysis.retargeting import retarget
from prunedbpe.analysis.sweeping import sweep
from prunedbpe.errors import SettingsError
from prunedbpe.training import prune_run
from prunedbpe.visibility import fewest
from prunedbpe.visibility.source_values import CAUTIOUS, TRUSTING

TEXTS = make_text(1, 1500).splitlines()
OTHER = make_text(2, 400).splitlines()
SHORTEST = {"threshold": "auto", "segmentation": "shortest"}


@pytest.fixture(scope="module")
def counts():
    return prunedbpe.count(Corpus.from_texts(TEXTS))


@pytest.fixture(scope="module")
def merges(counts):
    return learn(counts, 1200)


@pytest.fixture
def folder(tmp_path):
    """A corpus of four sources."""
    for seed in range(4):
        path = tmp_path / "texts" / f"{seed}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(make_text(seed % 3, 60), encoding="utf-8")
    return tmp_path / "texts"


def length_of(tokenizer, texts):
    return sum(map(tokenizer.count_tokens, texts))


def test_the_chosen_set_is_shorter_than_any_other_of_its_size(merges, counts):
    chosen = prune(merges, 600, counts=counts, **SHORTEST)
    assert chosen.segmentation == "shortest" and chosen.vocab_size == 600
    assert chosen.training["encoded_length"] == length_of(chosen, TEXTS)
    for options in (
        {"threshold": 0},
        {"threshold": "40%"},
        {"threshold": "auto"},
        {"threshold": 0, "segmentation": "shortest"},
        {"threshold": "40%", "segmentation": "shortest"},
    ):
        other = prune(merges, 600, counts=counts, **options)
        assert other.training["encoded_length"] == length_of(other, TEXTS)
        assert chosen.training["encoded_length"] < other.training["encoded_length"]


def test_a_threshold_with_shortest_is_the_papers_visible_set(merges, counts):
    by_rank = prune(merges, 600, threshold="40%")
    shortest = prune(merges, 600, threshold="40%", segmentation="shortest")
    assert shortest.vocab_bytes() == by_rank.vocab_bytes()
    # Merges alone do not tell the length in the shortest segmentation.
    assert "encoded_length" not in shortest.training
    counted = prune(merges, 600, threshold="40%", segmentation="shortest", counts=counts)
    assert counted.training["encoded_length"] == length_of(shortest, TEXTS)


def test_counted_sources_are_the_corpus(merges, counts):
    sources = prunedbpe.SourceCounts.single(counts)
    tokenizer = prune(merges, 600, sources=sources, **SHORTEST)
    assert tokenizer.training == prune(merges, 600, counts=counts, **SHORTEST).training


def test_the_corpus_is_needed(merges):
    with pytest.raises(SettingsError, match="needs the corpus, not only merges"):
        prune(merges, 600, **SHORTEST)


def test_no_token_is_retained_after_the_last_visible_one(merges, counts):
    vocabulary = prune(merges, 600, counts=counts, **SHORTEST).vocabulary
    assert vocabulary.visible[-1]


def test_a_saved_tokenizer_encodes_the_same(merges, counts, tmp_path):
    tokenizer = prune(merges, 600, counts=counts, **SHORTEST)
    tokenizer.save(tmp_path)
    loaded = prunedbpe.Tokenizer.load(tmp_path)
    assert loaded.segmentation == "shortest" and loaded.training == tokenizer.training
    assert [loaded.encode(text) for text in OTHER] == [tokenizer.encode(text) for text in OTHER]


def test_validation_decides_how_far_to_trust_the_corpus(merges, counts):
    other = prunedbpe.count(Corpus.from_texts(OTHER))
    for validation, texts in ((counts, TEXTS), (other, OTHER)):
        tokenizer = prune(merges, 600, counts=counts, validation=validation, **SHORTEST)
        auto = tokenizer.training["auto"]
        assert auto["chosen_by"] == "validation" and len(auto["tried"]) == 2
        assert auto["validation_length"] == length_of(tokenizer, texts)
        assert auto["validation_length"] == min(t["validation_length"] for t in auto["tried"])


@pytest.mark.parametrize("threads", [1, 3])
def test_training_a_run_and_pruning_it_agree(folder, tmp_path, threads):
    whole = prunedbpe.train(folder, 500, **SHORTEST)
    assert whole.training["auto"]["sources"] == 4
    run = tmp_path / "run"
    kept = prunedbpe.train(folder, 500, run_dir=run, threads=threads, **SHORTEST)
    later = prune_run(run, 500, threads=threads, **SHORTEST)
    for tokenizer in (kept, later):
        assert tokenizer.vocab_bytes() == whole.vocab_bytes()
        assert tokenizer.training == whole.training


@pytest.mark.parametrize("flips", [2, 9, 30])
def test_an_interrupted_choice_resumes_to_the_same_result(folder, tmp_path, monkeypatch, flips):
    whole = prunedbpe.train(folder, 500, **SHORTEST)
    run = tmp_path / "run"
    flip, left = fewest.FewestCorpus.flip, [flips]

    def interrupted(corpus, ranks):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        flip(corpus, ranks)

    with monkeypatch.context() as patch:
        patch.setattr(fewest.FewestCorpus, "flip", interrupted)
        with pytest.raises(KeyboardInterrupt):
            prunedbpe.train(folder, 500, run_dir=run, **SHORTEST)
    assert (run / "choice.json").exists()
    # The state of another choice is not this one's.
    smaller = prunedbpe.train(folder, 450, run_dir=run, **SHORTEST)
    assert smaller.vocab_bytes() == prunedbpe.train(folder, 450, **SHORTEST).vocab_bytes()
    with monkeypatch.context() as patch:
        left[0] = flips
        patch.setattr(fewest.FewestCorpus, "flip", interrupted)
        with pytest.raises(KeyboardInterrupt):
            prunedbpe.train(folder, 500, run_dir=run, **SHORTEST)
    shown = []
    monkeypatch.setattr(
        fewest.FewestCorpus,
        "show",
        lambda corpus, v: (shown.append(int(v.sum())), _show(corpus, v)),
    )
    resumed = prunedbpe.train(folder, 500, run_dir=run, **SHORTEST)
    everything = 256 + whole.training["auto"]["candidates"]
    assert (shown[0] < everything) == (flips > 1)  # it did not start over
    assert resumed.vocab_bytes() == whole.vocab_bytes() and resumed.training == whole.training
    assert not (run / "choice.json").exists()


def test_the_state_of_another_rule_is_ignored(merges, counts, tmp_path):
    """A validated choice tries two rules; one must not continue from the state of the other."""
    sources = prunedbpe.SourceCounts.single(counts)
    rules = CAUTIOUS["shortest"], TRUSTING
    far, weights = np.array([10**9]), np.ones(1)

    def choose(checkpoint):
        corpus = fewest.FewestCorpus(merges, sources)
        return fewest.Chooser(corpus, 300, rules[0], checkpoint=checkpoint).choose(far, weights)[0]

    path = tmp_path / "choice.json"
    ranks = np.arange(256 + len(merges))
    newest = (ranks < 256) | (ranks >= len(merges) - 300)
    for rule in rules:
        packed = base64.b64encode(np.packbits(newest).tobytes()).decode()
        state = {"visible": packed, "rule": asdict(rule)}
        write_sealed(path, {"identity": None, "state": state})
        found, plain = choose(Checkpoint(path)), choose(NO_CHECKPOINT)
        assert (found.visible == plain.visible).all() == (rule is TRUSTING)


_show = fewest.FewestCorpus.show


def test_weights_say_what_matters(folder):
    def gain_of(weights):
        tokenizer = prunedbpe.train(folder, 420, source_weights=weights, **SHORTEST)
        rows = tokenizer.training["auto"]["gains"]
        return {row["source"].rsplit("/")[-1]: row["gain"] for row in rows}

    plain, favoured = gain_of(None), gain_of({"1": 50})
    assert favoured["1.txt"] > plain["1.txt"]


def test_sweeping_and_retargeting(merges, counts):
    sources = prunedbpe.SourceCounts.single(counts)
    other = prunedbpe.count(Corpus.from_texts(OTHER))
    cells = sweep(
        merges,
        [500, 600],
        [0, "auto"],
        segmentation="shortest",
        sources=sources,
        corpora={"other": other},
    )
    assert len(cells) == 8 and {cell.segmentation for cell in cells} == {"shortest"}
    for cell in cells:
        tokenizer = prune(
            merges,
            cell.vocab_size,
            threshold=cell.threshold,
            segmentation="shortest",
            counts=counts,
        )
        texts = TEXTS if cell.corpus == "training" else OTHER
        assert cell.encoded_length == length_of(tokenizer, texts)
        standard = prune(merges, cell.vocab_size, threshold=0)
        assert cell.standard_length == length_of(standard, texts)
    with pytest.raises(SettingsError, match="needs the chunk counts of corpus 'training'"):
        sweep(merges, [500], [0], segmentation="shortest")
    retargeted = retarget(merges, other, 600, segmentation="shortest")
    assert retargeted.segmentation == "shortest"
    assert retargeted.training["retargeted"]["domain_length"] == length_of(retargeted, OTHER)
    by_rank = retarget(merges, other, 600)
    assert length_of(retargeted, OTHER) < length_of(by_rank, OTHER)
    with pytest.raises(SettingsError, match="needs the domain's chunk counts"):
        retarget(merges, prunedbpe.replay(merges, other), 600, segmentation="shortest")


def test_nothing_to_choose():
    counts = ChunkCounts.from_mapping({b"ab": 2, b"cd": 2})
    tokenizer = prune(learn(counts, 9), 262, counts=counts, **SHORTEST)
    assert [tokenizer.token_bytes(i) for i in (256, 257)] == [b"ab", b"cd"]
    bytes_only = prune(learn(counts, 9), 260, counts=counts, **SHORTEST)
    assert bytes_only.vocab_size == 260 and bytes_only.training["encoded_length"] == 8
