"""Styles of published tokenizers that need more than one byte-level step, beside tokenizers."""

from __future__ import annotations

import json

import pytest
from integrations.test_imports import gpt2_style, ids_of, tokenizers  # noqa: F401  # a fixture

import prunedbpe
from prunedbpe.exchange.importing import import_tokenizer
from prunedbpe.exchange.library_check import compare

COMPATIBLE = ["ﬁ½Ⅻ ㋿ＡＢ\u00a0x", "\u1e9b\u0323 A\u030a\u0338", "\ua7f2 a\u0301\u0327", "🄁①"]
NUMBERS = ["a12 3456 ٣٤٥²½", "x𑷠𑷡 𖿴", "中文123カナ・ab!c"]

DEEPSEEK = [
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
    "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+"
    "|\\s+(?!\\S)|\\s+",
]


def change(stock, library, style):
    """Cut or normalize as a published tokenizer does."""
    parts = library.pre_tokenizers
    byte_level = parts.ByteLevel(add_prefix_space=False, use_regex=style != "several splits")
    if style == "several splits":
        splits = [parts.Split(library.Regex(pattern), "isolated") for pattern in DEEPSEEK]
        stock.pre_tokenizer = parts.Sequence([*splits, byte_level])
    elif style == "NFKC":
        stock.normalizer = library.normalizers.NFKC()
    else:
        digits = parts.Digits(individual_digits=style == "single digits")
        stock.pre_tokenizer = parts.Sequence([digits, byte_level])


@pytest.mark.parametrize("style", ["several splits", "single digits", "runs of digits", "NFKC"])
def test_style_is_equal(style, tokenizers, texts, tmp_path):  # noqa: F811
    pytest.importorskip("regex", reason="extra regex is not installed")
    stock = gpt2_style(tokenizers, texts)
    change(stock, tokenizers, style)
    path = tmp_path / "tokenizer.json"
    stock.save(str(path))
    tok = import_tokenizer(path)
    more = [*texts, *COMPATIBLE, *NUMBERS]
    expected = ids_of(stock, more)
    assert tok.encode_batch(more, allowed_special="all") == expected
    tok.save(tmp_path / "saved")
    saved = prunedbpe.Tokenizer.load(tmp_path / "saved")
    assert saved.encode_batch(more, allowed_special="all") == expected
    assert compare(tok, path, 200).library.startswith("tokenizers 0.")


def test_late_tokens_are_equal(tokenizers, texts, tmp_path):  # noqa: F811
    """As in Llama 3: a merge stands before that of its part, and is applied at once."""
    settings = json.loads(gpt2_style(tokenizers, texts).to_str())
    model = settings["model"]
    merges = [tuple(pair) for pair in model["merges"]]
    made = {left + right: (left, right) for left, right in merges}
    parts = {part for pair in merges for part in pair}
    late = {
        left: (left, right)
        for left, right in merges
        if left in made and left + right not in parts and right not in made
        if right != made[left][0]  # else two of them could compete
    }
    assert len(late) > 20
    for pair in late.values():
        merges.remove(pair)
        merges.insert(merges.index(made[pair[0]]), pair)
    model["merges"] = merges
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(settings), "utf-8")
    stock = tokenizers.Tokenizer.from_file(str(path))
    tok = import_tokenizer(path)
    assert tok.encode_batch(texts, allowed_special="all") == ids_of(stock, texts)


def test_tokens_outside_the_byte_alphabet_stay_unused(tokenizers, texts, tmp_path):  # noqa: F811
    """As in Command R+, which has whole emoji that no merge makes."""
    settings = json.loads(gpt2_style(tokenizers, texts).to_str())
    settings["model"]["vocab"]["™"] = 2000
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(settings), "utf-8")
    stock = tokenizers.Tokenizer.from_file(str(path))
    more = [*texts[:500], "a™b ™"]
    assert import_tokenizer(path).encode_batch(more, allowed_special="all") == ids_of(stock, more)
