"""Evaluation: every figure on examples made by hand, lengths against real encoding."""

import math

import numpy as np
import pytest
from cli_helpers import make_text

import prunedbpe
from prunedbpe import Corpus, Tokenizer
from prunedbpe.analysis.evaluation import evaluate
from prunedbpe.analysis.metrics import bootstrap_reductions, gini, renyi_efficiency
from prunedbpe.analysis.scripts import script_of
from prunedbpe.errors import SettingsError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    for seed, name in enumerate(("a", "b")):
        (folder / name).mkdir()
        (folder / name / "x.txt").write_text(make_text(seed, 80), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def tokenizers(folder):
    merges = prunedbpe.learn(prunedbpe.count([folder]), 300)
    by_rank = {t: prunedbpe.prune(merges, 400, threshold=t) for t in ("0", "40%")}
    shortest = Tokenizer(by_rank["40%"].vocabulary, segmentation="shortest")
    return {**by_rank, "shortest": shortest}


@pytest.mark.parametrize("segmentation", [None, "rank", "shortest"])
def test_lengths_are_those_of_encoding(folder, tokenizers, segmentation):
    corpora = {"all": Corpus([folder])}
    rows = evaluate(tokenizers, corpora, segmentation=segmentation, bootstrap=20)
    assert [(row.source is None, row.tokenizer) for row in rows] == [
        (whole, name) for whole in (True, False, False) for name in tokenizers
    ]
    for row in rows:
        tok = tokenizers[row.tokenizer]
        assert row.segmentation == (segmentation or tok.segmentation)
        names = ("a", "b") if row.source is None else (row.source[-1],)
        lines = [
            line
            for name in names
            for line in (folder / name / "x.txt").read_text(encoding="utf-8").splitlines()
        ]
        ids = [tok.encode(line, segmentation=segmentation) for line in lines]
        assert row.tokens == sum(map(len, ids))
        seen = np.bincount(np.concatenate(ids), minlength=tok.vocab_size)[: tok.vocab_size - 4]
        assert row.used == (seen > 0).sum()
        assert row.spread.seen_under[10] == (seen[256:] < 10).sum()
        assert row.spread.gini == pytest.approx(gini(seen[256:]))
        assert row.renyi_efficiency == pytest.approx(renyi_efficiency(seen))
        assert row.bytes == sum(len(line.encode()) for line in lines)
        assert row.shortest == sum(tok.count_tokens(t, segmentation="shortest") for t in lines)
        assert row.shortest_gap == pytest.approx(1 - row.shortest / row.tokens)
        latin = [
            (len(chunk), tok.count_tokens(chunk, segmentation=segmentation))
            for line in lines
            for chunk in prunedbpe.pretokenize(line, tok.pretokenizer)
            if script_of(chunk.encode()) == "LATIN"
        ]
        characters, tokens = np.sum(latin, axis=0)
        assert row.characters_per_token["LATIN"] == pytest.approx(characters / tokens)
    low, high = rows[1].reduction_interval
    assert low <= rows[1].reduction <= high and rows[0].reduction_interval == (0.0, 0.0)


def test_characters_and_words():
    tok = prunedbpe.train(iter(["x"]), 260, threshold=0)  # bytes alone
    [row] = evaluate({"b": tok}, {"c": Corpus.from_texts(["ab 中文 12"])}, bootstrap=0)
    # " ab" has no space at the start of a text: chunks "ab", " 中文", " 12"
    assert row.characters_per_token == pytest.approx({"CJK": 3 / 7, "other": 1.0, "LATIN": 1.0})
    assert row.fertility == 2.0 and row.bytes_per_token == 1.0


def test_no_words_without_a_pretokenizer():
    tok = prunedbpe.train(iter(["x"]), 260, threshold=0, pretokenizer="none")
    [row] = evaluate({"b": tok}, {"c": Corpus.from_texts(["ab cd"])}, bootstrap=0)
    assert row.fertility is None


def test_renyi_by_hand():
    # Shares 1/2, 1/4, 1/4: order 2 gives -log(3/8), of three tokens.
    expected = -math.log(3 / 8) / math.log(3)
    assert renyi_efficiency(np.array([2, 1, 1]), alpha=2) == pytest.approx(expected)
    shannon = (0.5 * math.log(2) + 0.5 * math.log(4)) / math.log(3)
    assert renyi_efficiency(np.array([2, 1, 1]), alpha=1) == pytest.approx(shannon)
    assert renyi_efficiency(np.zeros(3, np.int64)) == 0.0


def test_bootstrap_is_repeatable_and_paired():
    lengths = [np.arange(1, 50), np.arange(1, 50) * 9 // 10]
    once = bootstrap_reductions(lengths, samples=50, seed=3)
    assert once == bootstrap_reductions(lengths, samples=50, seed=3)
    assert once != bootstrap_reductions(lengths, samples=50, seed=4)
    assert 0.08 < once[1][0] < once[1][1] < 0.13


def test_no_tokenizer():
    with pytest.raises(SettingsError, match="no tokenizer"):
        evaluate({}, {})
