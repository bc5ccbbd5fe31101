"""The whole run: what it refuses before it reads, and what it tells afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, Tokenizer, learn
from prunedbpe.errors import CorpusError, SettingsError

TEXTS = ["the cat in the hat", "that hat", "the cat sat"] * 3


class Unread:
    """A corpus nobody may read."""

    def __iter__(self):
        raise AssertionError("the corpus was read")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 100}, "vocab_size=100 has no room"),
        ({"vocab_size": 259}, "vocab_size=259 has no room"),
        ({"threshold": "x"}, "neither a ratio nor a count"),
        ({"threshold": -1}, "negative"),
        ({"pretokenizer": "papper"}, "did you mean 'paper'"),
        ({"special_tokens": ["a", "a"]}, "given twice"),
        ({"special_tokens": "<eos>"}, "special_tokens is the text '<eos>'"),
        ({"special_tokens": [5]}, "is not text"),
        ({"max_train_vocab": 270}, "max_train_vocab=270 is below the 552"),
        ({"threads": -2}, "threads is -2"),
    ],
)
def test_settings_that_make_no_sense_are_told_before_the_corpus_is_read(options, message):
    options = {"vocab_size": 556, **options}
    with pytest.raises(SettingsError, match=message):
        prunedbpe.train(Corpus.from_texts(Unread()), **options)


def test_what_the_tokenizer_remembers():
    tokenizer = prunedbpe.train(Corpus.from_texts(TEXTS), 265, threshold="40%")
    training = tokenizer.training
    assert (training["threshold"], training["max_train_vocab"]) == ("40%", None)
    assert training["corpus"]["documents"] == len(TEXTS)
    assert training["corpus"]["bytes"] == sum(map(len, TEXTS))
    assert training["encoded_length"] == sum(map(tokenizer.count_tokens, TEXTS))
    assert training["trained_vocab"] >= 256 + 5


def test_bytes_only():
    for tokenizer in (
        prunedbpe.train(Corpus.from_texts(TEXTS), 260),
        prunedbpe.train(Corpus.from_texts([]), 260),
        prunedbpe.prune(learn(ChunkCounts.from_mapping({b"ab": 2}), 1), 260),
    ):
        assert tokenizer.vocab_size == 260
        assert tokenizer.encode("abc") == [97, 98, 99]


def test_no_special_tokens(tmp_path):
    tokenizer = prunedbpe.train(Corpus.from_texts(TEXTS), 258, threshold=0, special_tokens=())
    assert tokenizer.special_tokens == {}
    tokenizer.save(tmp_path)
    assert Tokenizer.load(tmp_path).encode("the cat") == tokenizer.encode("the cat")


def test_empty_corpus():
    with pytest.raises(CorpusError, match="no text was read"):
        prunedbpe.train(Corpus.from_texts([]), 261)


def test_pretokenizer_of_the_merges_is_that_of_the_tokenizer():
    counts = prunedbpe.count(Corpus.from_texts(TEXTS), pretokenizer="gpt2")
    assert prunedbpe.prune(learn(counts, 9), 262, threshold=0).pretokenizer.name == "gpt2"


def test_pruning_leaves_the_merges_alone():
    learned = learn(prunedbpe.count(Corpus.from_texts(TEXTS)), 50)
    merges = replace(learned, pairs=learned.pairs.copy())  # what is learned is read-only already
    first = prunedbpe.prune(merges, 265, threshold="40%")
    for threshold in (0, "100%", 1):
        prunedbpe.prune(merges, 262, threshold=threshold)
    again = prunedbpe.prune(merges, 265, threshold="40%")
    assert first.vocab_bytes() == again.vocab_bytes()
    assert merges.pairs.flags.writeable
    assert merges.pairs.tolist() == learned.pairs.tolist()
