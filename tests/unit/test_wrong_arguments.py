"""A wrong type, name or path is one short error of the library that names the value."""

from __future__ import annotations

import pytest

import prunedbpe
from prunedbpe import ChunkCounts, Corpus, MergeTable, PrunedBPEError, Tokenizer
from prunedbpe.encoded import encode_corpus
from prunedbpe.errors import WrongTypeError

TEXTS = ["the cat in the hat", "that hat"]


@pytest.fixture(scope="module")
def tok():
    return prunedbpe.train(TEXTS, vocab_size=262, threshold=0)


@pytest.fixture(scope="module")
def counts():
    return prunedbpe.count(TEXTS)


@pytest.fixture(scope="module")
def merges(counts):
    return prunedbpe.learn(counts, 3)


def check(call, message):
    """Check that a call fails with the message and nothing of native code."""
    with pytest.raises(PrunedBPEError, match=message) as caught:
        call()
    text = str(caught.value)
    assert len(text) < 300 and len(text.splitlines()) <= 2
    assert "_core" not in text and "incompatible" not in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: prunedbpe.train(3, 1000), "a corpus cannot be of type int"),
        (lambda: prunedbpe.train("nowhere", 1000), "nowhere: no such file or folder"),
        (lambda: prunedbpe.train(TEXTS, "1000"), "vocab_size is a whole number, not '1000'"),
        (lambda: prunedbpe.train(TEXTS, 300.5), r"vocab_size is a whole number, not 300\.5"),
        (lambda: prunedbpe.train(TEXTS, 300, treshold=0), "did you mean 'threshold'"),
        (lambda: prunedbpe.train(TEXTS, 300, threads="x"), "threads is a whole number"),
        (lambda: prunedbpe.train(TEXTS, 300, special_tokens=3), "special_tokens is a list"),
        (lambda: prunedbpe.train(TEXTS, 300, policy=3), "policy must be of type VisibilityPolicy"),
        (lambda: prunedbpe.train(TEXTS, 300, run_dir=3), "a path is a text or a Path, not 3"),
        (lambda: prunedbpe.train(TEXTS, 300, candidate_ratio="x"), "candidate_ratio is a number"),
        (lambda: prunedbpe.train(TEXTS, 300, max_train_vocab="x"), "max_train_vocab is a whole"),
        (lambda: prunedbpe.learn("counts.parquet", 5), "counts must be of type ChunkCounts"),
        (lambda: prunedbpe.prune("merges.parquet", 300), "merges is a MergeTable or a Learner"),
        (lambda: prunedbpe.replay(3, None), "merges must be of type MergeTable, not 3"),
        (lambda: prunedbpe.retarget(3, None, 300), "merges must be of type MergeTable"),
        (lambda: prunedbpe.id_map(3, None), "base must be of type Tokenizer"),
        (lambda: prunedbpe.reduce_counts([3]), "each table must be of type ChunkCounts"),
        (lambda: prunedbpe.reduce_counts(3), "tables is a list of chunk counts"),
        (lambda: prunedbpe.pretokenize(3), "a text is a str, not 3 of type int"),
        (lambda: Corpus(3), "a corpus is a path or a list of paths"),
        (lambda: Corpus.from_texts("text"), "texts is an iterable of texts"),
        (lambda: prunedbpe.Vocabulary(3, 3), "pairs must be of type ndarray, not 3"),
        (lambda: Tokenizer("folder"), r"Tokenizer\.load"),
        (lambda: Tokenizer.load("nowhere"), "nowhere: no such folder"),
        (lambda: Tokenizer.load(None), "a path is a text or a Path, not None"),
        (lambda: ChunkCounts.load("nowhere"), "nowhere: no such file"),
        (lambda: MergeTable.load(3), "a path is a text or a Path"),
        (lambda: prunedbpe.import_tokenizer(3), "a path is a text or a Path"),
    ],
)
def test_functions(call, message):
    check(call, message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda tok: tok.encode(None), "a text is a str, not None"),
        (lambda tok: tok.encode(b"abc"), r"decode\('utf-8'\)"),
        (lambda tok: tok.encode(["a"]), "for many texts use encode_batch"),
        (lambda tok: tok.encode(None, segmentation="shortest"), "a text is a str"),
        (lambda tok: tok.encode(None, allowed_special="all"), "a text is a str"),
        (lambda tok: tok.encode(None, disallowed_special="all"), "a text is a str"),
        (lambda tok: tok.encode("a", alowed_special="all"), "did you mean 'allowed_special'"),
        (lambda tok: tok.encode("a", dropout="x"), "dropout is a probability"),
        (lambda tok: tok.encode("a", seed="x"), "seed is a whole number"),
        (lambda tok: tok.encode("a", allowed_special=3), "allowed_special is 'all' or"),
        (lambda tok: tok.encode_batch("abc"), "for one text use encode"),
        (lambda tok: tok.encode_batch(None), "a batch is a list of texts, not None"),
        (lambda tok: tok.encode_batch(["a", None]), "a text is a str, not None"),
        (lambda tok: tok.encode_batch_to_numpy([3]), "a text is a str, not 3"),
        (lambda tok: tok.encode_with_offsets(None), "a text is a str"),
        (lambda tok: tok.encode_with_offsets("a", unit="words"), "unit='words'"),
        (lambda tok: tok.decode("abc"), "whole numbers, not 'abc' of type str"),
        (lambda tok: tok.decode(None), "whole numbers, not None"),
        (lambda tok: tok.decode([97, "a"]), "item 1 is 'a' of type str"),
        (lambda tok: tok.decode_bytes([[97]]), r"item 0 is \[97\] of type list"),
        (lambda tok: tok.decode_batch(None), "a list of lists of ids, not None"),
        (lambda tok: tok.decode_batch([1]), "whole numbers, not 1 of type int"),
        (lambda tok: tok.token_bytes("a"), "token_id is a whole number"),
        (lambda tok: tok.rank(None), "token_id is a whole number, not None"),
        (lambda tok: tok.id_to_token("a"), "token_id is a whole number"),
        (lambda tok: tok.token_to_id(97), "a token is a text or bytes, not 97"),
        (lambda tok: tok.save(3), "a path is a text or a Path"),
        (lambda tok: encode_corpus(tok, TEXTS, "a.npy", colum="x"), "did you mean 'column'"),
    ],
)
def test_tokenizer(tok, call, message):
    check(lambda: call(tok), message)


def test_results_are_no_corpus(tok, counts, merges):
    """They export Arrow data, and that of merges has a column of text."""
    for result in (counts, merges, tok.vocabulary):
        check(
            lambda result=result: prunedbpe.train(result, 300),
            f"a corpus cannot be of type {type(result).__name__}",
        )


def test_sweep(merges):
    check(lambda: prunedbpe.sweep(3, [300], [0]), "merges must be of type MergeTable")
    check(lambda: prunedbpe.sweep(merges, 300, [0]), "sizes is a list, not 300")
    check(lambda: prunedbpe.sweep(merges, [300], "auto"), "thresholds is a list, not 'auto'")


def test_options_of_imports(tok, tmp_path):
    tok.save(tmp_path)
    check(
        lambda: prunedbpe.import_tokenizer(tmp_path, pretokenizer="gpt2"),
        "pretokenizer is no option",
    )


def test_it_is_a_type_error(tok):
    """Code that expects Python's own exceptions keeps working."""
    for kind in (TypeError, ValueError, WrongTypeError):
        with pytest.raises(kind):
            tok.encode(None)
