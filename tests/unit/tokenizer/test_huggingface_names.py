r"""`len`, `get_vocab`, `token_to_id` and `id_to_token`: visible tokens as text, one text each."""

from __future__ import annotations

import json

import pytest

import prunedbpe

TEXTS = [
    "一 丁 七 万 丈 三 上 下 不 与",  # their first two bytes are the same
    "the cat in the hat " * 2,
    "that hat \\xe4\\xb8 vironment " * 4,
]


@pytest.fixture(scope="module", params=["rank", "shortest"])
def tok(request):
    tok = prunedbpe.train(TEXTS, vocab_size=269, threshold=2, segmentation=request.param)
    assert tok.vocabulary.internal_count
    return tok


def test_it_is_the_visible_vocabulary(tok):
    vocab = tok.get_vocab()
    assert len(vocab) == len(tok) == tok.vocab_size
    assert list(vocab.values()) == list(range(len(tok)))
    for token, token_id in vocab.items():
        assert tok.id_to_token(token_id) == token
        assert tok.token_to_id(token) == token_id
        assert token.encode("utf-8", "surrogateescape") == tok.token_bytes(token_id)


def test_tokens_that_are_not_utf8(tok):
    parts = [i for i in range(256, len(tok)) if not is_utf8(tok.token_bytes(i))]
    assert parts, "the corpus must give tokens that end inside a character"
    for token_id in parts:
        text = tok.id_to_token(token_id)
        assert any("\udc80" <= character <= "\udcff" for character in text)
        assert tok.token_to_id(tok.token_bytes(token_id)) == token_id
        # The escaped spelling is the name of another token, or of none.
        escaped = tok.token_bytes(token_id).decode("utf-8", "backslashreplace")
        assert tok.token_to_id(escaped) != token_id
    assert json.loads(json.dumps(tok.get_vocab())) == tok.get_vocab()


def test_what_no_model_sees_has_no_text(tok):
    internal = tok.vocab_size
    assert tok.id_to_token(internal) is None
    assert tok.token_to_id(tok.token_bytes(internal)) is None
    for unknown in ("no such token", "\ud800", "", b""):
        assert tok.token_to_id(unknown) is None
    assert tok.id_to_token(-1) is None


def test_special_tokens_by_name_only(tok):
    assert tok.token_to_id("<_EOS_>") == tok.special_tokens["<_EOS_>"]
    assert tok.token_to_id(b"<_EOS_>") is None
    assert tok.id_to_token(tok.special_tokens["<_PAD_>"]) == "<_PAD_>"


def test_a_learned_token_that_spells_a_special_one():
    tok = prunedbpe.train(
        ["<e>", "<e>"],
        vocab_size=259,
        threshold=0,
        special_tokens=["<e>"],
        pretokenizer="none",
    )
    learned = tok.vocab_bytes().index(b"<e>")
    special = tok.special_tokens["<e>"]
    assert learned != special
    vocab = tok.get_vocab()
    assert vocab["<e>"] == tok.token_to_id("<e>") == special
    assert tok.token_to_id(b"<e>") == learned
    assert len(vocab) == len(tok) - 1


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
