"""Signatures name every option with its default, and calls take exactly these."""

from __future__ import annotations

import inspect

import pytest

import prunedbpe
from prunedbpe import Tokenizer, VisibilityPolicy
from prunedbpe.encoded import encode_corpus, encode_files
from prunedbpe.encoded.columns import encode_column

FUNCTIONS = [
    *(getattr(prunedbpe, name) for name in prunedbpe.__all__ if name.islower()),
    *(member for name, member in inspect.getmembers(Tokenizer) if not name.startswith("_")),
    *(encode_corpus, encode_files, encode_column),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: getattr(one, "__name__", str(one)))
def test_no_option_is_left_unnamed(function):
    if not callable(function):
        return
    for parameter in inspect.signature(function).parameters.values():
        assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)


def test_the_defaults_are_the_real_ones():
    shown = inspect.signature(prunedbpe.train).parameters
    assert shown["threshold"].default == "40%"
    assert shown["segmentation"].default == VisibilityPolicy().segmentation
    encode = inspect.signature(Tokenizer.encode).parameters
    assert encode["segmentation"].default is None
    assert encode["segmentation"].annotation == "Segmentation | None"
    texts = ["the cat in the hat", "that hat"]
    tok = prunedbpe.train(texts, vocab_size=262, threshold=0)
    own = ("self", "text")
    defaults = {name: p.default for name, p in encode.items() if name not in own}
    assert tok.encode("the hat", **defaults) == tok.encode("the hat")


def test_every_option_shown_is_taken():
    shown = inspect.signature(prunedbpe.prune).parameters
    merges = prunedbpe.learn(prunedbpe.count(["the cat in the hat", "that hat"]), 3)
    given = {name: p.default for name, p in shown.items() if p.default is not p.empty}
    pruned = prunedbpe.prune(merges, 262, **{**given, "threshold": 0})
    assert pruned.vocab_size == 262
