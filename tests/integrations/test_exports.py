"""The stock libraries encode every export exactly as the tokenizer does."""

from __future__ import annotations

import json
from itertools import chain

import pytest
from integrations.conftest import train_on

from prunedbpe.exchange.huggingface_export import write_all_ranks, write_huggingface
from prunedbpe.exchange.huggingface_import import import_huggingface
from prunedbpe.exchange.tiktoken_export import to_tiktoken, write_tiktoken
from prunedbpe.pretokenizers import BUILTIN_PRETOKENIZERS, Pretokenizer
from prunedbpe.pretokenizers.foreign_cut import ForeignCut

AS_BUILT_IN = pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)


@pytest.fixture(scope="module")
def tokenizers():
    return pytest.importorskip("tokenizers", reason="tokenizers is not installed")


def is_candidate(tokenizers) -> bool:
    """Whether this is a release candidate of tokenizers 1.0, which reads fewer files."""
    return tokenizers.__version__.startswith("1.0.0-rc")


def ids_of(stock, texts):
    return [one.ids for one in stock.encode_batch(texts, add_special_tokens=False)]


def with_specials(texts):
    return [text[:5] + "<_EOS_>" + text + "<_SOS_><_PAD_>" for text in texts]


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
@pytest.mark.parametrize("segmentation", ["rank", "shortest"])
def test_huggingface_is_equal(name, segmentation, tokenizers, texts, long_texts, tmp_path):
    """Standard BPE by rank; a vocabulary that was chosen for the fewest tokens."""
    tok = train_on(texts, name, "0" if segmentation == "rank" else "auto", segmentation)
    assert bool(tok.vocabulary.internal_count) == (segmentation == "shortest")
    path = tmp_path / "tokenizer.json"
    write_huggingface(tok, path)
    if is_candidate(tokenizers) and name != "none":
        # What the guide says of these releases. If it is no longer true, change both.
        refusal = "system-regex backend" if segmentation == "rank" else "needs a BPE model"
        with pytest.raises(Exception, match=refusal):
            tokenizers.Tokenizer.from_file(str(path)).encode("a b")
        return
    stock = tokenizers.Tokenizer.from_file(str(path))
    every = [*texts, *with_specials(texts[:2000]), *long_texts]
    expected = tok.encode_batch(every, allowed_special="all")
    assert ids_of(stock, every) == expected
    assert [stock.decode(ids, skip_special_tokens=False) for ids in expected[-500:]] == every[-500:]
    assert import_huggingface(path).encode_batch(every, allowed_special="all") == expected


@AS_BUILT_IN
def test_special_tokens_as_ordinary_text(name, tokenizers, texts, tmp_path):
    """The library can be asked to leave added tokens alone, as we do by default."""
    tok = train_on(texts, name, "40%", "shortest")
    write_huggingface(tok, tmp_path / "tokenizer.json")
    every = with_specials(texts[:2000])
    if is_candidate(tokenizers):
        if name != "none":
            pytest.skip("this version needs a BPE model")
        stock = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        encoded = stock.encode_batch(every, encode_special_tokens=True)
    else:
        stock = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        stock.encode_special_tokens = True
        encoded = stock.encode_batch(every)
        assert {text: stock.token_to_id(text) for text in tok.special_tokens} == tok.special_tokens
        assert stock.get_vocab_size() == tok.vocab_size
    assert [one.ids for one in encoded] == tok.encode_batch(every)


@pytest.mark.parametrize("segmentation", ["rank", "shortest"])
@pytest.mark.parametrize("name", ["gpt2", "o200k"])
def test_classes_of_the_library(name, segmentation, tokenizers, texts, long_texts, tmp_path):
    """Equal except for new characters; the imported file is equal for those also."""
    if is_candidate(tokenizers) and segmentation == "shortest":
        pytest.skip("this version needs a BPE model")
    version = "17.0.0" if is_candidate(tokenizers) else "16.0.0"
    tok = train_on(texts, name, "0", segmentation)
    path = tmp_path / "tokenizer.json"
    write_huggingface(tok, path, library_classes=True)
    stock = tokenizers.Tokenizer.from_file(str(path))
    every = [*texts, *long_texts]
    imported = import_huggingface(path, unicode_version=version)
    assert imported.encode_batch(every, allowed_special="all") == ids_of(stock, every)
    cut = ForeignCut(Pretokenizer(name), version)
    known = [text for text in every if cut.are_plain([text])]
    assert len(known) > len(every) // 2
    assert ids_of(stock, known) == tok.encode_batch(known, allowed_special="all")


@AS_BUILT_IN
@pytest.mark.parametrize("threshold", ["40%", "3"])
def test_all_ranks_and_expansions_are_the_pruned_tokenizer(
    name, threshold, tokenizers, texts, tmp_path
):
    if is_candidate(tokenizers) and name != "none":
        pytest.skip("this version has no regular expressions")
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
