"""Exports and imports that need no other library: round trips, and what is refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from random_texts import random_texts

import prunedbpe
from prunedbpe.errors import FormatError, NotExactError, SettingsError
from prunedbpe.exchange.byte_alphabet import from_byte_alphabet, to_byte_alphabet
from prunedbpe.exchange.decode_table import write_decode_table
from prunedbpe.exchange.equivalent_patterns import cut_by, cut_of_pattern, equivalent_pattern
from prunedbpe.exchange.formats import export
from prunedbpe.exchange.huggingface_export import write_huggingface
from prunedbpe.exchange.importing import import_tokenizer
from prunedbpe.exchange.tiktoken_export import write_tiktoken
from prunedbpe.exchange.tiktoken_import import import_tiktoken
from prunedbpe.pretokenizers import UNICODE_VERSION, Pretokenizer
from prunedbpe.pretokenizers.foreign_cut import ForeignCut
from prunedbpe.pretokenizers.patterns import CL100K_PATTERN, PATTERNS

TEXTS = random_texts(1000)


def train(
    pretokenizer: str | Pretokenizer, threshold: str = "0", **options: Any
) -> prunedbpe.Tokenizer:
    return prunedbpe.train(
        iter(TEXTS), vocab_size=500, threshold=threshold, pretokenizer=pretokenizer, **options
    )


def fewest(tok: prunedbpe.Tokenizer) -> prunedbpe.Tokenizer:
    return prunedbpe.Tokenizer(tok.vocabulary, tok.pretokenizer, tok.training, "shortest")


@pytest.fixture(scope="module")
def pruned() -> prunedbpe.Tokenizer:
    return train("paper", "40%")


@pytest.mark.parametrize("name", ["paper", "cl100k"])
def test_exports_come_back(name, tmp_path):
    tok = train(name)
    write_tiktoken(tok, tmp_path / "mine.tiktoken")
    write_huggingface(tok, tmp_path / "tokenizer.json")
    for path in ("mine.tiktoken", "tokenizer.json"):
        again = import_tokenizer(tmp_path / path)
        assert again.pretokenizer.name == name
        assert again.special_tokens == tok.special_tokens
        assert again.encode_batch(TEXTS) == tok.encode_batch(TEXTS)


def test_paper_files_come_back(tmp_path):
    tok = train("reference", "40%")
    export(tok, "paper", tmp_path)
    assert import_tokenizer(tmp_path).encode_batch(TEXTS) == tok.encode_batch(TEXTS)


def test_public_encodings_need_no_settings(tmp_path):
    write_tiktoken(train("cl100k"), tmp_path / "cl100k_base.tiktoken")
    (tmp_path / "cl100k_base.tiktoken.json").unlink()
    again = import_tiktoken(tmp_path / "cl100k_base.tiktoken")
    assert again.pretokenizer.name == "cl100k"
    assert again.special_tokens["<|endoftext|>"] == 100257
    other = (tmp_path / "cl100k_base.tiktoken").rename(tmp_path / "other.tiktoken")
    with pytest.raises(SettingsError, match="does not say how text is cut"):
        import_tiktoken(other)
    with pytest.raises(SettingsError, match="did you mean 'cl100k'"):
        import_tiktoken(other, pretokenizer="cl10k")
    with pytest.raises(SettingsError, match="without normalization"):
        import_tiktoken(other, pretokenizer=Pretokenizer("gpt2", normalization="NFC"))
    assert import_tiktoken(other, pretokenizer="cl100k").special_tokens == {}


@pytest.mark.parametrize("format_", ["huggingface", "tiktoken"])
def test_pruned_vocabularies_are_refused(format_, pruned, tmp_path):
    with pytest.raises(NotExactError, match="tokens are internal"):
        export(pruned, format_, tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_a_refusal_names_both_ways_out(pruned, tmp_path):
    with pytest.raises(NotExactError) as refused:
        export(pruned, "huggingface", tmp_path / "x")
    for way in ("segmentation 'shortest'", "'transformers'", "'all-ranks'"):
        assert way in refused.value.hint


@pytest.mark.parametrize("format_", ["tiktoken", "all-ranks", "paper"])
def test_what_merges_by_rank_refuses_the_shortest_segmentation(format_, pruned, tmp_path):
    with pytest.raises(NotExactError, match="fewest tokens") as refused:
        export(fewest(pruned), format_, tmp_path / "x")
    assert "'huggingface'" in refused.value.hint
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("format_", ["huggingface", "tiktoken", "all-ranks"])
def test_normalization_is_refused(format_, tmp_path):
    tok = train(Pretokenizer("gpt2", normalization="NFC"))
    with pytest.raises(NotExactError, match="normalizes text to NFC"):
        export(tok, format_, tmp_path / "x")
    if format_ == "huggingface":
        with pytest.raises(NotExactError, match="normalizes text to NFC"):
            export(fewest(tok), format_, tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_a_special_token_with_the_name_of_another_is_refused(tmp_path):
    """The library would find one id for both: that of the piece."""
    tok = train("paper", special_tokens=("<_EOS_>", "Ġ"))
    for one in (tok, fewest(tok)):
        with pytest.raises(NotExactError, match="'Ġ' has the name of an ordinary token"):
            export(one, "huggingface", tmp_path / "x")


def test_classes_of_the_library_are_for_two_pretokenizers(pruned, tmp_path):
    with pytest.raises(NotExactError, match="no classes of their own for 'paper'"):
        export(fewest(pruned), "huggingface", tmp_path / "x", library_classes=True)
    with pytest.raises(SettingsError, match="for 'huggingface', not for 'paper'"):
        export(pruned, "paper", tmp_path / "x", library_classes=True)
    path = tmp_path / "x.json"
    export(fewest(train("gpt2")), "huggingface", path, library_classes=True)
    assert import_tokenizer(path).cut.unicode_version == "16.0.0"
    assert import_tokenizer(path, unicode_version="17.0.0").cut.unicode_version == "17.0.0"


@pytest.mark.parametrize("format_", ["huggingface", "tiktoken", "all-ranks", "paper"])
def test_imported_tokenizers_are_refused(format_, tmp_path):
    """Their ids are not their ranks, so the file would encode other ids."""
    write_tiktoken(train("gpt2"), tmp_path / "mine.tiktoken")
    imported = import_tokenizer(tmp_path / "mine.tiktoken")
    with pytest.raises(NotExactError, match="was imported"):
        export(imported, format_, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_regular_expressions_are_refused():
    pytest.importorskip("regex", reason="extra regex is not installed")
    with pytest.raises(NotExactError, match="regular expression"):
        equivalent_pattern(Pretokenizer("regex", r"\w+|\s+"))


def test_unknown_formats_are_refused(pruned, tmp_path):
    with pytest.raises(SettingsError, match="unknown export format 'gguf'"):
        export(pruned, "gguf", tmp_path)
    with pytest.raises(FormatError, match="no tokenizer of a known format"):
        import_tokenizer(tmp_path)


def test_the_decode_table_decodes(pruned, tmp_path):
    path = write_decode_table(pruned, tmp_path)
    table = [base64.b64decode(entry) for entry in json.loads(path.read_text("utf-8"))["tokens"]]
    for text in TEXTS[:200]:
        assert b"".join(table[i] for i in pruned.encode(text)).decode() == text
    with pytest.raises(FormatError, match="no such file"):
        prunedbpe.Tokenizer.load(tmp_path)


@pytest.mark.parametrize("name", PATTERNS)
def test_published_patterns_are_cut_natively(name):
    cut = cut_of_pattern(PATTERNS[name], "16.0.0")
    assert (cut.pretokenizer, cut.unicode_version) == (Pretokenizer(name), "16.0.0")
    own = equivalent_pattern(Pretokenizer(name))
    assert cut_of_pattern(own, "16.0.0") == ForeignCut(Pretokenizer(name), UNICODE_VERSION)


def test_the_unicode_version_of_a_cut():
    """A scanner that lists its own characters does not follow the version of the engine."""
    assert cut_by("gpt2", "16.0.0").unicode_version == "16.0.0"
    assert cut_by(CL100K_PATTERN, "16.0.0").pretokenizer.name == "cl100k"
    assert cut_by("paper", "16.0.0").unicode_version == UNICODE_VERSION
    with pytest.raises(SettingsError, match=r"Unicode '3\.0\.0' is not supported"):
        cut_by("gpt2", "3.0.0")


def test_the_byte_alphabet_is_a_bijection():
    every_byte = bytes(range(256))
    assert from_byte_alphabet(to_byte_alphabet(every_byte)) == every_byte
    assert len(set(to_byte_alphabet(every_byte))) == 256
