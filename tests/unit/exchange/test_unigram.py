"""Unigram models of equal scores: what leaves as one, what comes back, and what is refused."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from random_texts import random_texts

import prunedbpe
from prunedbpe.errors import FormatError, NotExactError
from prunedbpe.exchange.formats import export
from prunedbpe.exchange.huggingface_export import huggingface_settings
from prunedbpe.exchange.importing import import_tokenizer
from prunedbpe.exchange.unigram_model import pieces_of_unigram
from prunedbpe.pretokenizers import BUILTIN_PRETOKENIZERS
from prunedbpe.tokenizer.imported import ImportedTokenizer

TEXTS = [*random_texts(1000), "x<_EOS_>y<_PAD_>"]


def train(pretokenizer: str) -> prunedbpe.Tokenizer:
    tok = prunedbpe.train(iter(TEXTS), vocab_size=500, threshold="40%", pretokenizer=pretokenizer)
    return prunedbpe.Tokenizer(tok.vocabulary, tok.pretokenizer, tok.training, "shortest")


@pytest.fixture(scope="module")
def tok() -> prunedbpe.Tokenizer:
    return train("paper")


@pytest.mark.parametrize("name", BUILTIN_PRETOKENIZERS)
def test_exports_come_back(name: str, tmp_path: Path) -> None:
    tok = train(name)
    assert tok.vocabulary.internal_count
    export(tok, "huggingface", tmp_path / "tokenizer.json")
    again = import_tokenizer(tmp_path / "tokenizer.json")
    again.save(tmp_path / "saved")
    for one in (
        again,
        prunedbpe.Tokenizer.load(tmp_path / "saved"),
        pickle.loads(pickle.dumps(again)),
    ):
        assert isinstance(one, ImportedTokenizer)
        assert (one.segmentation, one.pretokenizer.name) == ("shortest", name)
        assert one.special_tokens == tok.special_tokens
        assert one.vocab_bytes() == tok.vocab_bytes()
        for special in ((), "all"):
            expected = tok.encode_batch(TEXTS, allowed_special=special)
            assert one.encode_batch(TEXTS, allowed_special=special) == expected
        assert one.decode_batch(tok.encode_batch(TEXTS)) == TEXTS


def test_the_model(tok: prunedbpe.Tokenizer) -> None:
    settings = huggingface_settings(tok)
    model = settings["model"]
    assert (model["unk_id"], model["byte_fallback"]) == (None, False)
    assert {score for _, score in model["vocab"]} == {-1.0}
    assert list(pieces_of_unigram(model)) == tok.vocab_bytes()[:496]
    assert [(entry["content"], entry["id"]) for entry in settings["added_tokens"]] == list(
        tok.special_tokens.items()
    )


def test_a_folder_has_a_config(tok: prunedbpe.Tokenizer, tmp_path: Path) -> None:
    export(tok, "huggingface", tmp_path / "folder")
    config = json.loads((tmp_path / "folder" / "tokenizer_config.json").read_text("utf-8"))
    assert config["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert config["clean_up_tokenization_spaces"] is False
    roles = ("eos_token", "bos_token", "sep_token", "pad_token")
    assert [config[role] for role in roles] == list(tok.special_tokens)
    assert import_tokenizer(tmp_path / "folder").encode_batch(TEXTS) == tok.encode_batch(TEXTS)


def _entry(**changes: Any) -> Callable[[Any], None]:
    return lambda settings: settings["added_tokens"][0].update(changes)


def _model(**changes: Any) -> Callable[[Any], None]:
    return lambda settings: settings["model"].update(changes)


def _piece(place: int, piece: Any) -> Callable[[Any], None]:
    def change(settings: Any) -> None:
        settings["model"]["vocab"][place] = piece

    return change


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_piece(300, ["xyz", -2.0]), r"piece 'xyz' \(id 300\).*score -2.0"),
        (_piece(300, ["中", -1.0]), "byte alphabet"),
        (_piece(300, ["a", -1.0]), "two pieces of the Unigram model spell b'a'"),
        (_piece(0, ["xyzxyz", -1.0]), "1 bytes are not pieces .*0x00"),
        (_model(unk_id=0), "unk_id=0"),
        (_model(byte_fallback=True), "byte_fallback"),
        (lambda settings: settings.update(normalizer={"type": "NFKC"}), "normalizer 'NFKC'"),
        (lambda settings: settings.update(normalizer={"type": "ByteLevel"}), "ByteLevel"),
        (lambda settings: settings.update(pre_tokenizer={"type": "Metaspace"}), "Metaspace"),
        (_entry(id=900), r"added_tokens\[0\]: .*'<_EOS_>' has the id 900"),
        (_entry(content="a"), "added token 'a'"),
        (_entry(lstrip=True), "lstrip"),
    ],
)
def test_what_is_not_supported_is_named(
    change: Callable[[Any], None], named: str, tok: prunedbpe.Tokenizer, tmp_path: Path
) -> None:
    settings = huggingface_settings(tok)
    change(settings)
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings), "utf-8")
    with pytest.raises(NotExactError, match=named):
        import_tokenizer(tmp_path)


def test_a_damaged_piece_is_named(tok: prunedbpe.Tokenizer, tmp_path: Path) -> None:
    settings = huggingface_settings(tok)
    settings["model"]["vocab"][1] = "b"
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings), "utf-8")
    with pytest.raises(FormatError, match=r"tokenizer\.json: model\.vocab\[1\] is 'b'"):
        import_tokenizer(tmp_path)
