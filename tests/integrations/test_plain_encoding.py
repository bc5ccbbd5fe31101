"""Rows of one text each are encoded as arrays; the results equal those of the way row by row."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from integrations.conftest import train_on

import prunedbpe

transformers = pytest.importorskip("transformers", reason="extra transformers is not installed")
pytestmark = pytest.mark.filterwarnings("default")

from prunedbpe.integrations.call_inputs import CallOptions  # noqa: E402
from prunedbpe.integrations.plain_encoding import encode_plain, is_plain  # noqa: E402
from prunedbpe.integrations.row_encoding import encode_rows  # noqa: E402
from prunedbpe.integrations.transformers import PrunedBPETokenizer  # noqa: E402
from prunedbpe.pretokenizers import find_pretokenizer  # noqa: E402

ODD = ["", "<_EOS_>", "a<_EOS_><_SEP_> b", "x  <mask>  y", "\ud83d\ude00 \ud800 <_EOS_>", "e\u0301"]
SPECIALS = {
    "none": {},
    "around": {"special_tokens_pattern": "bos_eos"},
    "before": {"special_tokens_pattern": "bos", "truncation_side": "left", "padding_side": "left"},
}


@pytest.fixture(scope="module", params=["plain", "nfc", "imported"])
def tokenizer(request, texts, tmp_path_factory):
    if request.param == "plain":
        return train_on(texts, "gpt2", "20%")
    if request.param == "nfc":
        return train_on(texts, find_pretokenizer("gpt2", "NFC"))
    tokenizers = pytest.importorskip("tokenizers")
    from integrations.test_imports import gpt2_style

    folder = tmp_path_factory.mktemp("stock")
    gpt2_style(tokenizers, texts).save(str(folder / "tokenizer.json"))
    return prunedbpe.import_tokenizer(folder)


def make(tokenizer, **settings):
    roles = {"bos_token": "<_SOS_>", "eos_token": "<_EOS_>", "pad_token": "<_PAD_>"}
    hf = PrunedBPETokenizer.from_tokenizer(tokenizer, **roles, **settings)
    hf.add_tokens(transformers.AddedToken("<mask>", lstrip=True, rstrip=True))
    hf.add_tokens(transformers.AddedToken("the", single_word=True))
    return hf


def same(left, right):
    if isinstance(left, np.ndarray):
        return left.shape == right.shape and left.dtype == right.dtype and (left == right).all()
    return left == right


@pytest.mark.parametrize("specials", SPECIALS)
def test_equals_the_way_row_by_row(tokenizer, specials, texts):
    hf = make(tokenizer, **SPECIALS[specials])
    some = [*ODD, *texts[:60], "the cat, the end", "bathe"]
    returned = {"return_special_tokens_mask": True, "return_length": True}
    paddings = (
        {},
        {"padding_strategy": "longest"},
        {"padding_strategy": "longest", "pad_to_multiple_of": 8},
        {"padding_strategy": "max_length", "max_length": 12},
    )
    flags = (False, True)
    for padding, cut, add, split in itertools.product(paddings, flags, flags, flags):
        given = {**padding, **returned, "add_special_tokens": add, "split_special_tokens": split}
        given["return_offsets_mapping"] = True
        if cut:
            given |= {"truncation_strategy": "longest_first", "max_length": 12}
        options = CallOptions.of(hf, given)
        assert is_plain(some, None, options)
        plain, rows = encode_plain(hf, some, options), encode_rows(hf, some, None, options)
        assert plain.data == rows.data
        for i in range(len(some)):
            for name in ("ids", "offsets", "word_ids", "sequence_ids", "tokens"):
                assert getattr(plain[i], name) == getattr(rows[i], name), (some[i], name)
        if padding.get("padding_strategy") and (cut or "max_length" not in padding):
            tensors = CallOptions.of(hf, {**given, "return_tensors": "np"})
            plain, rows = encode_plain(hf, some, tensors), encode_rows(hf, some, None, tensors)
            assert plain.keys() == rows.keys()
            assert all(same(plain[key], rows[key]) for key in plain)


def test_one_text_equals_a_batch(tokenizer, texts):
    for settings in SPECIALS.values():
        hf = make(tokenizer, **settings)
        for text in [*ODD, *texts[:100]]:
            one, batch = hf(text), hf([text])
            assert one.data == {key: values[0] for key, values in batch.items()}
            assert one.word_ids() == batch.word_ids(0)
            assert one.data == hf(text, verbose=True).data
            assert hf.decode(one["input_ids"]) == hf.batch_decode(batch["input_ids"])[0]
        assert pickle.loads(pickle.dumps(hf(["a b"]))).word_ids(0) == hf("a b").word_ids()


def test_tensors_of_torch(tokenizer, texts):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    hf = make(tokenizer)
    for given in (texts[:50], "one text", ""):
        arrays = hf(given, padding=True, return_tensors="np")
        tensors = hf(given, padding=True, return_tensors="pt")
        for key, array in arrays.items():
            assert tensors[key].dtype == torch.int64
            assert (tensors[key].numpy() == array).all()
    with pytest.raises(ValueError, match="activate truncation and/or padding"):
        hf(["a", "b c d e f"], return_tensors="pt")


def test_changed_tokens_are_seen(tokenizer):
    hf = make(tokenizer)
    before = hf("zq zq")["input_ids"]
    assert hf.decode(before, skip_special_tokens=True) == "zq zq"
    hf.add_tokens(["zq"])
    ids = hf("zq zq")["input_ids"]
    assert ids.count(hf.convert_tokens_to_ids("zq")) == 2 and hf.decode(ids) == "zq zq"
    hf.eos_token = "zq"
    assert hf.decode(ids, skip_special_tokens=True).strip() == ""
    hf.special_tokens_pattern = "eos"
    assert hf("zq")["input_ids"] == [hf.eos_token_id] * 2
    hf.add_special_tokens({"sep_token": " "})
    assert hf.decode(hf("a a")["input_ids"], skip_special_tokens=True) == "aa"


def test_ids_that_no_token_has_spell_nothing(tokenizer):
    hf = make(tokenizer)
    ids = hf("the cat")["input_ids"]
    wrong = [-100, *ids, 10**6, 2**40]
    assert hf.decode(wrong) == hf.batch_decode([wrong])[0] == "the cat"
    for kind in (tuple(ids), np.array(ids), np.array([ids])):
        decoded = hf.decode(kind)
        assert decoded == ("the cat" if np.ndim(kind) == 1 else ["the cat"])
    assert hf.decode(np.int64(97)) == hf.decode(97)
