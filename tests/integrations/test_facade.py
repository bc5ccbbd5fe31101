"""The tiktoken interface matches tiktoken: names, defaults and results."""

from __future__ import annotations

import inspect

import pytest
from integrations.conftest import train_on

import prunedbpe
from prunedbpe.errors import SettingsError
from prunedbpe.exchange.tiktoken_export import to_tiktoken


@pytest.fixture(scope="module")
def both(texts):
    pytest.importorskip("tiktoken", reason="extra tiktoken is not installed")
    tok = train_on(texts, "cl100k")
    return tok.as_tiktoken(), to_tiktoken(tok)


METHODS = (
    "encode_ordinary encode encode_to_numpy encode_ordinary_batch encode_batch "
    "encode_single_token decode_bytes decode decode_single_token_bytes decode_tokens_bytes "
    "decode_with_offsets decode_batch decode_bytes_batch token_byte_values is_special_token"
)


def test_signatures(both):
    ours, theirs = both
    for name in METHODS.split():
        mine = inspect.signature(getattr(ours, name)).parameters
        other = inspect.signature(getattr(theirs, name)).parameters
        assert list(mine) == list(other), name
        for parameter in other:
            assert mine[parameter].kind == other[parameter].kind, name
            default = other[parameter].default
            assert mine[parameter].default == (frozenset() if default == set() else default), name


def test_results(both, texts):
    ours, theirs = both
    assert ours.encode_ordinary_batch(texts) == theirs.encode_ordinary_batch(texts)
    for text in [*texts[:300], "\ud83d\ude00 \ud800"]:
        ids = theirs.encode(text, allowed_special="all")
        assert ours.encode(text, allowed_special="all") == ids
        assert ours.encode(text, disallowed_special=()) == theirs.encode(
            text, disallowed_special=()
        )
        if "\ud800" not in text:
            assert ours.encode_to_numpy(text, allowed_special="all").tolist() == ids
        assert ours.decode_with_offsets(ids) == theirs.decode_with_offsets(ids)
        assert ours.decode_tokens_bytes(ids) == theirs.decode_tokens_bytes(ids)
    assert ours.token_byte_values() == theirs.token_byte_values()
    for name in ("n_vocab", "max_token_value", "special_tokens_set"):
        assert getattr(ours, name) == getattr(theirs, name)
    for piece in ("<_EOS_>", b"a", " "):
        assert ours.encode_single_token(piece) == theirs.encode_single_token(piece)
    assert ours.is_special_token(ours.eot_token) and not ours.is_special_token(97)


def test_errors(both):
    for encoding in both:
        with pytest.raises(ValueError, match="<_EOS_>"):
            encoding.encode("a<_EOS_>")
        with pytest.raises(ValueError, match="<_EOS_>"):
            encoding.encode_batch(["a", "a<_EOS_>"], allowed_special={"<_SOS_>"})
        with pytest.raises(KeyError):
            encoding.decode([10_000])
        with pytest.raises(KeyError):
            encoding.decode_single_token_bytes(10_000)
        with pytest.raises(KeyError):
            encoding.encode_single_token("no such token at all")


def test_special_text_is_ordinary_text_by_default():
    tok = prunedbpe.train(iter(["ab ab"]), vocab_size=261, threshold=0)
    assert tok.encode("<_EOS_>") == list(b"<_EOS_>")
    for call in (tok.encode, tok.encode_to_numpy):
        with pytest.raises(ValueError, match="<_EOS_>"):
            call("<_EOS_>", disallowed_special="all")
        call("<_EOS_>", allowed_special="all", disallowed_special="all")
    with pytest.raises(ValueError, match="<_EOS_>"):
        tok.encode_batch(["a", "<_EOS_>"], disallowed_special={"<_EOS_>"})
    bare = prunedbpe.train(iter(["ab ab"]), vocab_size=257, threshold=0, special_tokens=())
    with pytest.raises(SettingsError, match="no special token ends a text"):
        _ = bare.eot_token
