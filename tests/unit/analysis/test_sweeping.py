"""Sweeps: every cell is what pruning and encoding give, and sizes where growth flattens."""

from __future__ import annotations

import pytest
from cli_helpers import make_text

import prunedbpe
from prunedbpe import Corpus, learn, prune, sweep
from prunedbpe.analysis.sweeping import advise_sizes, growth_reduction
from prunedbpe.errors import InsufficientCandidatesError
from prunedbpe.visibility.exposure import total_tokens

TEXTS = make_text(1, 1500).splitlines()
OTHER = make_text(2, 400).splitlines()


@pytest.fixture(scope="module")
def merges():
    return learn(prunedbpe.count(Corpus.from_texts(TEXTS)), 900)


@pytest.fixture(scope="module")
def cells(merges):
    other = prunedbpe.replay(merges, prunedbpe.count(Corpus.from_texts(OTHER)))
    return sweep(merges, [400, 600], [0, "40%", 0.3, "auto"], corpora={"other": other})


def test_one_cell_for_every_size_threshold_and_corpus(cells):
    assert [(c.vocab_size, c.threshold, c.corpus) for c in cells] == [
        (size, threshold, corpus)
        for size in (400, 600)
        for threshold in ("0", "40%", "0.3", "auto")
        for corpus in ("training", "other")
    ]


def test_every_cell_is_what_encoding_gives(merges, cells):
    for cell in cells:
        threshold = float(cell.threshold) if cell.threshold == "0.3" else cell.threshold
        tokenizer = prune(merges, cell.vocab_size, threshold=threshold)
        texts = TEXTS if cell.corpus == "training" else OTHER
        length = sum(map(tokenizer.count_tokens, texts))
        standard = prune(merges, cell.vocab_size, threshold=0)
        standard_length = sum(map(standard.count_tokens, texts))
        assert (cell.encoded_length, cell.standard_length) == (length, standard_length)
        assert cell.reduction == pytest.approx(1 - length / standard_length)
        assert cell.internal == tokenizer.vocabulary.internal_count
        assert cell.internal_share == cell.internal / len(tokenizer.vocabulary.pairs)
        assert cell.least_exposure == tokenizer.training["least_visible_exposure"]
        assert cell.bytes_per_token == pytest.approx(sum(len(t.encode()) for t in texts) / length)
        assert cell.growth_reduction is None and cell.note == ""  # 2,000 more were not learned
        assert cell.as_row()["corpus"] == cell.corpus


def test_standard_bpe_gains_nothing(cells):
    assert {cell.reduction for cell in cells if cell.threshold == "0"} == {0}


def test_a_threshold_that_cannot_be_met_leaves_a_note(merges):
    cells = sweep(merges, [600], ["1000%", 0])
    assert cells[0].encoded_length is None and cells[0].reduction is None
    assert "learned tokens have an exposure of at least" in cells[0].note
    assert "900 merges were learned" in cells[0].note
    assert cells[1].encoded_length is not None
    with pytest.raises(InsufficientCandidatesError, match="900 merges were learned"):
        sweep(merges, [600, 2000], [0])


def test_growth(merges):
    applied = merges.applied
    now, then = total_tokens(applied, 300), total_tokens(applied, 500)
    assert growth_reduction(applied, 300, 200) == pytest.approx((now - then) / now)
    assert growth_reduction(applied, 701, 200) is None
    advice = advise_sizes(applied, special_count=4, step=100)
    assert advice.sizes == list(range(300, 1001, 100))
    for size, reduction in zip(advice.sizes, advice.reductions, strict=True):
        assert reduction == pytest.approx(growth_reduction(applied, size - 260, 100))
    assert advice.knee in advice.sizes and advice.knee in advice.suggested
    assert advise_sizes(applied).sizes == [] and advise_sizes(applied).suggested == []
