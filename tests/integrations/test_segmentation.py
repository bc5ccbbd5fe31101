"""Tokenizers that take the fewest tokens in transformers and as a Unigram model."""

from __future__ import annotations

import pickle

import pytest
from integrations.conftest import train_on

from prunedbpe import Tokenizer

transformers = pytest.importorskip("transformers", reason="extra transformers is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="extra transformers is not installed")
pytestmark = pytest.mark.filterwarnings("default")

from prunedbpe.exchange.byte_alphabet import to_byte_alphabet  # noqa: E402
from prunedbpe.integrations.transformers import PrunedBPETokenizer  # noqa: E402
from prunedbpe.pretokenizers.foreign_cut import STOCK_UNICODE_VERSION, ForeignCut  # noqa: E402


@pytest.fixture(scope="module")
def tok(texts):
    pruned = train_on(texts, "gpt2", "40%")
    return Tokenizer(pruned.vocabulary, "gpt2", segmentation="shortest")


@pytest.fixture(scope="module")
def saved(tok, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    PrunedBPETokenizer.from_tokenizer(tok).save_pretrained(folder)
    return folder


def test_it_differs(tok, texts):
    assert tok.encode_batch(texts) != tok.encode_batch(texts, segmentation="rank")


@pytest.mark.parametrize(
    "load",
    [
        PrunedBPETokenizer.from_pretrained,
        transformers.AutoTokenizer.from_pretrained,
        lambda folder: pickle.loads(pickle.dumps(PrunedBPETokenizer.from_pretrained(folder))),
    ],
    ids=["from_pretrained", "auto", "pickle"],
)
def test_transformers_keep_it(tok, saved, texts, load):
    hf = load(saved)
    assert hf.tokenizer.segmentation == "shortest"
    expected = tok.encode_batch(texts, allowed_special="all")
    assert hf(texts)["input_ids"] == expected
    assert [hf.encode(text) for text in texts[:200]] == expected[:200]
    assert [hf.decode(ids) for ids in expected[:200]] == texts[:200]
    for text in texts[:200]:
        encoding = hf(text, return_offsets_mapping=True)
        assert hf.convert_tokens_to_ids(hf.tokenize(text)) == encoding["input_ids"]
        if not any(special in text for special in tok.special_tokens):
            assert encoding["offset_mapping"] == tok.encode_with_offsets(text)[1]


def test_a_unigram_model_with_equal_scores_gives_the_same_ids(tok, texts):
    strings, ids = tok.vocabulary.visible_strings
    assert ids.tolist() == list(range(len(strings)))
    stock = tokenizers.Tokenizer(
        tokenizers.models.Unigram([(to_byte_alphabet(string), -1.0) for string in strings])
    )
    stock.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    # That library's classes are of an older Unicode version: characters assigned since differ.
    cut = ForeignCut(tok.pretokenizer, STOCK_UNICODE_VERSION)
    texts = [text for text in texts if len(text) < 2000 and cut.are_plain([text])]
    assert len(texts) > 1000
    found = stock.encode_batch(texts, add_special_tokens=False)
    assert [encoding.ids for encoding in found] == tok.encode_batch(texts)
