"""xgrammar and llguidance constrain generation with our tokenizers."""

from __future__ import annotations

import json

import pytest
from integrations.conftest import train_on
from integrations.constrained import SCHEMA, check_answer, generate

import prunedbpe
from prunedbpe.exchange.formats import export

transformers = pytest.importorskip("transformers", reason="extra transformers is not installed")
pytestmark = pytest.mark.filterwarnings("default")

from prunedbpe.integrations.grammars import (  # noqa: E402
    llguidance_tokenizer,
    register_with_xgrammar,
    special_ids,
    xgrammar_tokenizer_info,
)
from prunedbpe.integrations.transformers import PrunedBPETokenizer  # noqa: E402

KINDS = ["rank", "shortest", "imported"]
ROWS = 1024
"""Rows of the output layer: more than the vocabulary has."""


@pytest.fixture(scope="module", params=KINDS)
def hf(request, texts, tmp_path_factory):
    if request.param == "imported":
        path = tmp_path_factory.mktemp("standard") / "tokenizer.json"
        export(train_on(texts, "gpt2"), "huggingface", path)
        tok = prunedbpe.import_tokenizer(path)
    else:
        tok = train_on(texts, "gpt2", "40%", request.param)
    hf = PrunedBPETokenizer.from_tokenizer(tok)
    hf.add_tokens(["<tool>"])
    hf.add_special_tokens({"extra_special_tokens": ["<|call|>"]})
    return hf


@pytest.fixture()
def xgrammar(monkeypatch):
    xgrammar = pytest.importorskip("xgrammar", reason="extra grammars is not installed")
    # Undo what register_with_xgrammar changes.
    original = vars(xgrammar.TokenizerInfo)["from_huggingface"]
    monkeypatch.setattr(xgrammar.TokenizerInfo, "from_huggingface", original)
    return xgrammar


def test_special_ids_and_bytes(hf):
    tok = hf.tokenizer
    spelled = hf.token_bytes()
    assert spelled[: tok.vocab_size] == list(tok.vocab_bytes())
    assert spelled[tok.vocab_size :] == [b"<tool>", b"<|call|>"]
    assert special_ids(hf) == [*sorted(tok.special_tokens.values()), tok.vocab_size + 1]


def test_xgrammar(hf, xgrammar):
    info = xgrammar_tokenizer_info(hf, vocab_size=ROWS)
    assert info.vocab_size == ROWS
    assert info.stop_token_ids == [hf.eos_token_id]
    special = set(special_ids(hf))
    expected = [b"" if i in special else s for i, s in enumerate(hf.token_bytes())]
    assert info.decoded_vocab[: len(expected)] == expected
    compiler = xgrammar.GrammarCompiler(info)
    grammar = compiler.compile_json_schema(json.dumps(SCHEMA), any_whitespace=False)
    bitmask = xgrammar.allocate_token_bitmask(1, ROWS)
    for seed in range(5):
        matcher = xgrammar.GrammarMatcher(grammar)

        def mask(matcher=matcher):
            matcher.fill_next_token_bitmask(bitmask)
            return bitmask.numpy()

        ids = generate(mask, matcher.accept_token, hf.eos_token_id, seed, special)
        assert matcher.is_terminated()
        check_answer(hf.decode(ids))


def test_xgrammar_from_huggingface(hf, xgrammar, tmp_path):
    with pytest.raises(ValueError, match="Unsupported tokenizer type"):
        xgrammar.TokenizerInfo.from_huggingface(hf)
    register_with_xgrammar()
    registered = xgrammar.TokenizerInfo.from_huggingface
    register_with_xgrammar()  # plugins may run twice
    assert xgrammar.TokenizerInfo.from_huggingface is registered
    info = registered(hf, vocab_size=ROWS, stop_token_ids=[7])
    assert info.decoded_vocab[: len(hf)] == hf.token_bytes()  # special tokens as text, too
    assert (info.vocab_size, info.stop_token_ids) == (ROWS, [7])
    if hf.tokenizer.segmentation == "shortest":  # other classes go to the library
        export(hf.tokenizer, "huggingface", tmp_path / "stock")
        stock = transformers.AutoTokenizer.from_pretrained(tmp_path / "stock")
        assert registered(stock).decoded_vocab == list(hf.tokenizer.vocab_bytes())


def test_llguidance(hf, texts):
    llguidance = pytest.importorskip("llguidance", reason="extra grammars is not installed")
    from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask

    tokenizer = llguidance_tokenizer(hf, n_vocab=ROWS)
    assert (tokenizer.vocab_size, tokenizer.eos_token) == (ROWS, hf.eos_token_id)
    special = set(special_ids(hf))
    # The library marks special tokens with the byte FF, so that byte looks special. No text has it.
    spelled = hf.token_bytes()
    marked = special | {spelled.index(b"\xff")}
    assert {i for i in range(len(hf)) if tokenizer.is_special_token(i)} == marked
    for i, string in enumerate(spelled):
        if i not in marked:
            assert tokenizer.decode_bytes([i]) == string
    for text in texts[:500]:
        assert tokenizer.tokenize_str(text) == hf.tokenizer.encode(text)
    grammar = llguidance.LLMatcher.grammar_from_json_schema(
        json.dumps(SCHEMA), {"whitespace_flexible": False}
    )
    bitmask = allocate_token_bitmask(1, ROWS)
    for seed in range(5):
        matcher = llguidance.LLMatcher(tokenizer, grammar)
        assert not matcher.is_error()

        def mask(matcher=matcher):
            fill_next_token_bitmask(matcher, bitmask)
            return bitmask

        ids = generate(mask, matcher.consume_token, hf.eos_token_id, seed, special)
        check_answer(hf.decode(ids))
