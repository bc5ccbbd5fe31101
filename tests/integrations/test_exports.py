"""The stock libraries encode every export exactly as the tokenizer does."""

from __future__ import annotations

import json
from itertools import chain

import pytest
from integrations.conftest import train_on

from prunedbpe.exchange.huggingface_export import write_all_ranks, write_huggingface
from prunedbpe.exchange.tiktoken_export import to_tiktoken, write_tiktoken
from prunedbpe.pretokenizers import BUILTIN_PRETOKENIZERS

AS_BUILT_IN = pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)


@AS_BUILT_IN
def test_tiktoken_is_equal(name, texts, tmp_path):
    tiktoken = pytest.importorskip("tiktoken", reason="extra tiktoken is not installed")
    tok = train_on(texts, name)
    encoding = to_tiktoken(tok)
    assert encoding.encode_ordinary_batch(texts) == tok.encode_batch(texts)
    specials = [text + "<_EOS_>" + text[:3] for text in texts[:200]]
    assert [encoding.encode(t, allowed_special="all") for t in specials] == tok.encode_batch(
        specials, allowed_special="all"
    )
    assert encoding.n_vocab == tok.n_vocab

    write_tiktoken(tok, tmp_path / "mine.tiktoken")
    from tiktoken.load import load_tiktoken_bpe

    settings = json.loads((tmp_path / "mine.tiktoken.json").read_text("utf-8"))
    ranks = load_tiktoken_bpe(str(tmp_path / "mine.tiktoken"))
    again = tiktoken.Encoding(mergeable_ranks=ranks, **settings)
    assert again.encode_ordinary_batch(texts[:500]) == tok.encode_batch(texts[:500])


@AS_BUILT_IN
def test_huggingface_is_equal(name, texts, tmp_path):
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    tok = train_on(texts, name)
    write_huggingface(tok, tmp_path / "tokenizer.json")
    stock = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    encoded = stock.encode_batch(texts, add_special_tokens=False)
    assert [one.ids for one in encoded] == tok.encode_batch(texts, allowed_special="all")
    decoded = [stock.decode(one.ids, skip_special_tokens=False) for one in encoded[:500]]
    assert decoded == texts[:500]
    assert stock.get_vocab_size() == tok.vocab_size


@AS_BUILT_IN
@pytest.mark.parametrize("threshold", ["40%", "3"])
def test_all_ranks_and_expansions_are_the_pruned_tokenizer(name, threshold, texts, tmp_path):
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    tok = train_on(texts, name, threshold)
    assert tok.vocabulary.internal_count
    write_all_ranks(tok, tmp_path)
    stock = tokenizers.Tokenizer.from_file(str(tmp_path / "all-ranks.json"))
    expansions = json.loads((tmp_path / "expansions.json").read_text("utf-8"))["expansions"]
    expanded = [
        list(chain.from_iterable(expansions[rank] for rank in one.ids))
        for one in stock.encode_batch(texts)
    ]
    assert expanded == tok.encode_batch(texts)
