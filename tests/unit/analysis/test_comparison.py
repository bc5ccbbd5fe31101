"""Two vocabularies side by side: the worth of every token, and that it adds up."""

from __future__ import annotations

import numpy as np
import pytest
from cli_helpers import make_text
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents

import prunedbpe
from prunedbpe import Corpus, Tokenizer, learn, prune
from prunedbpe.analysis.comparison import compare, group_of, readable
from prunedbpe.errors import RunMismatchError, SettingsError
from prunedbpe.visibility.exposure import exposure

TEXTS = make_text(1, 1500).splitlines()


@pytest.fixture(scope="module")
def merges():
    return learn(prunedbpe.count(Corpus.from_texts(TEXTS)), 900)


def check(before, after, applied, texts):
    found = compare(before, after, applied)
    assert found.length_before == sum(map(before.count_tokens, texts))
    assert found.length_after == sum(map(after.count_tokens, texts))
    worth = sum(t.worth for t in found.hidden) - sum(t.worth for t in found.shown)
    assert found.length_after - found.length_before == worth + found.others
    # What neither shows, token by token.
    longer = max(before.vocabulary, after.vocabulary, key=lambda v: len(v.pairs))
    exposures = exposure(longer.pairs, applied, len(longer.pairs))
    others = 0
    for rank in range(256, len(exposures)):
        seen = [
            rank < len(v.visible) and v.visible[rank] for v in (before.vocabulary, after.vocabulary)
        ]
        if not any(seen):
            others += int(exposures[rank]) * (
                pieces(rank, longer, after.vocabulary) - pieces(rank, longer, before.vocabulary)
            )
    assert found.others == others
    return found


def pieces(rank, longer, vocabulary):
    if rank < len(vocabulary.visible) and vocabulary.visible[rank]:
        return 1
    return sum(pieces(part, longer, vocabulary) for part in longer.pairs[rank - 256].tolist())


@pytest.mark.parametrize("first, second", [(0, "40%"), ("40%", "auto"), (0, "auto"), ("auto", 0)])
def test_the_worth_of_all_tokens_is_the_difference(merges, first, second):
    before, after = prune(merges, 500, threshold=first), prune(merges, 500, threshold=second)
    found = check(before, after, merges.applied, TEXTS)
    assert len(found.hidden) == len(found.shown) > 0  # the same size: one in, one out
    for tokens in (found.hidden, found.shown):
        assert [t.worth for t in tokens] == sorted((t.worth for t in tokens), reverse=True)
        for token in tokens:
            assert token.worth == token.exposure * (len(token.expands_to) - 1)
            assert "".join(token.expands_to) == token.text or "<" in "".join(token.expands_to)


@given(documents(), documents(3), st.integers(0, 30), st.integers(0, 30))
def test_any_two_vocabularies_on_any_text(texts, other, size, other_size):
    counts = prunedbpe.count(Corpus.from_texts(texts))
    merges = learn(counts, 60)
    before = prune(merges, 260 + min(size, len(merges)), threshold="auto")
    after = prune(merges, 260 + min(other_size, len(merges)), threshold="auto", validation=counts)
    applied = prunedbpe.replay(merges, prunedbpe.count(Corpus.from_texts(other)))
    check(before, after, applied, other)


def test_the_visible_tokens_an_internal_one_supports(merges):
    before, after = prune(merges, 500, threshold=0), prune(merges, 500, threshold="auto")
    strings = after.vocabulary.strings
    for token in compare(before, after, merges.applied).hidden:
        visible = {
            readable(strings[rank])
            for rank in np.flatnonzero(after.vocabulary.visible)
            if strings[token.rank] in strings[rank]
        }
        assert set(token.supports) <= visible and len(token.supports) <= 5


def test_a_vocabulary_and_itself(merges):
    tokenizer = prune(merges, 500)
    found = compare(tokenizer, tokenizer, merges.applied)
    assert found.hidden == found.shown == [] and found.others == 0


def test_other_merges_are_refused(merges):
    other = learn(prunedbpe.count(Corpus.from_texts(make_text(3, 50).splitlines())), 300)
    with pytest.raises(RunMismatchError, match="not one merge list"):
        compare(prune(merges, 400), prune(other, 400, threshold=0), merges.applied)


@pytest.mark.parametrize(
    ("text", "group"),
    [
        (" government", "word"),
        ("vironment", "word fragment"),
        ("été", "word fragment"),
        ("ே", "word fragment"),
        ("共", "Chinese character"),
        ("共和国", "Chinese phrase"),
        ("国abc", "word fragment"),
        ("</", "structured"),
        ("\n\n", "structured"),
        ("2024", "structured"),
        ("user_id", "structured"),
    ],
)
def test_groups(text, group):
    assert group_of(text.encode()) == group
    assert group_of("共".encode()[:2]) == group_of("共和".encode()[1:]) == "partial UTF-8"


def test_only_tokenizers_that_encode_by_rank(merges):
    standard = prune(merges, 500, threshold=0)
    shortest = Tokenizer(standard.vocabulary, segmentation="shortest")
    with pytest.raises(SettingsError, match="second tokenizer has the segmentation 'shortest'"):
        compare(standard, shortest, merges.applied)
