"""Files of other programs: tekken.json, rank files, SentencePiece models, folders, Hub names."""

from __future__ import annotations

import base64
import json
import sys
from types import SimpleNamespace

import pytest

from prunedbpe._support.json_values import JsonValue
from prunedbpe.errors import FormatError, MissingExtraError, NotExactError
from prunedbpe.exchange.importing import import_tokenizer
from prunedbpe.exchange.normalized_tokens import check_normalized
from prunedbpe.exchange.sentencepiece_model import read_sentencepiece
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.tokenizer import Tokenizer

BYTES = [bytes([byte]) for byte in range(256)]
PATTERN = r"\p{L}+|\P{L}+"


def rank_lines(tokens):
    return "".join(f"{base64.b64encode(t).decode()} {rank}\n" for rank, t in enumerate(tokens))


def tekken(tokens, **changes):
    entries = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    config = {"pattern": PATTERN, "default_num_special_tokens": 30, "version": "v3"}
    config["default_vocab_size"] = 30 + len(tokens) - 1  # the last one is beyond the vocabulary
    return {"config": config, "vocab": entries, **changes}


def write(path, value):
    path.write_text(json.dumps(value), "utf-8")
    return path


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def model(kind: int, byte_fallback: int) -> bytes:
    pieces = b"".join(field(1, field(1, name)) for name in (b"<unk>", b"<s>", b"a"))
    trainer = field(2, field(3, kind) + field(35, byte_fallback))
    return pieces + trainer + field(3, field(1, b"nfkc"))


def test_tekken_ids_follow_the_special_tokens(tmp_path):
    path = write(tmp_path / "tekken.json", tekken([*BYTES, b"ab", b"abc", b"cut"]))
    tok = import_tokenizer(tmp_path)
    assert tok.encode("abc ab cut") == [287, 62, 286, 62, 129, 147, 146]
    assert tok.special_tokens["<s>"] == 1
    assert tok.special_tokens["<SPECIAL_29>"] == 29
    assert import_tokenizer(path).vocab_size == tok.vocab_size == 288
    tok.save(tmp_path / "saved")
    assert Tokenizer.load(tmp_path / "saved").encode("abc") == [287]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"special_tokens": [{"rank": 0, "token_str": "a"}] * 2}, "special_tokens has 2 entries"),
        ({"vocab": []}, "vocab has 0 tokens"),
        ({"vocab": [{"rank": 1}]}, r"vocab\[0\].rank is 1, not 0"),
        ({"vocab": [{"rank": 0, "token_bytes": "?"}]}, r"vocab\[0\].token_bytes"),
        ({"config": {}}, "config.default_num_special_tokens is missing"),
    ],
)
def test_damaged_tekken_files_are_named(change, named, tmp_path):
    write(tmp_path / "tekken.json", tekken([*BYTES, b"ab"], **change))
    with pytest.raises(FormatError, match=named):
        import_tokenizer(tmp_path)


def test_an_empty_token_of_a_rank_file_is_left_out(tmp_path):
    path = tmp_path / "whisper.tiktoken"
    path.write_text(rank_lines([*BYTES, b"ab"]) + "= 257\n", "utf-8")
    tok = import_tokenizer(path, pretokenizer="gpt2", special_tokens={"<|end|>": 258})
    assert tok.encode("ab<|end|>", allowed_special="all") == [256, 258]


def test_models_of_sentencepiece_are_named(tmp_path):
    path = tmp_path / "tokenizer.model"
    for kind, fallback, named in (
        (2, 1, "BPE, 3 pieces, with byte fallback.*not byte-level BPE"),
        (2, 0, "unknown token"),
        (1, 0, "Unigram models choose pieces by their scores"),
    ):
        path.write_bytes(model(kind, fallback))
        with pytest.raises(NotExactError, match=named):
            import_tokenizer(tmp_path)
    assert read_sentencepiece(model(2, 1)).normalizer == "nfkc"


def test_damaged_models_of_sentencepiece_never_give_another_error(tmp_path):
    path = tmp_path / "tokenizer.model"
    whole = model(2, 1)
    for size in range(4, len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises((FormatError, NotExactError), match="SentencePiece"):
            import_tokenizer(path)


def test_a_rank_file_may_be_named_tokenizer_model(tmp_path):
    path = tmp_path / "tokenizer.model"
    path.write_text(rank_lines([*BYTES, b"ab"]), "utf-8")
    assert import_tokenizer(tmp_path, pretokenizer="gpt2").encode("ab") == [256]


def test_the_first_known_file_of_a_folder_counts(tmp_path):
    (tmp_path / "tokenizer.model").write_bytes(model(2, 1))
    (tmp_path / "ranks.tiktoken").write_text(rank_lines([*BYTES, b"ab"]), "utf-8")
    assert import_tokenizer(tmp_path, pretokenizer="gpt2").encode("ab") == [256]
    write(tmp_path / "tekken.json", tekken([*BYTES, b"ab", b"x"]))
    assert import_tokenizer(tmp_path).encode("ab") == [286]


def test_names_of_the_hub(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = []

    def snapshot(name, allow_patterns):
        asked.append((name, "tekken.json" in allow_patterns))
        if name == "a/missing":
            raise OSError("404")
        return str(tmp_path / "snapshot")

    (tmp_path / "snapshot").mkdir()
    write(tmp_path / "snapshot" / "tekken.json", tekken([*BYTES, b"ab", b"x"]))
    hub = SimpleNamespace(snapshot_download=snapshot)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert import_tokenizer("some/name").encode("ab") == [286]
    assert asked == [("some/name", True)]
    with pytest.raises(FormatError, match=r"a/missing: no such file or .* OSError: 404"):
        import_tokenizer("a/missing")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"prunedbpe\[hub\]"):
        import_tokenizer("some/name")


def test_a_sequence_cuts_the_pieces_of_the_step_before():
    steps = (Pretokenizer("regex", r"\p{N}"), Pretokenizer("gpt2"))
    cut = Pretokenizer("sequence", steps=steps)
    assert cut.split("a 12 bé3") == ["a", " ", "1", "2", " bé", "3"]
    assert cut.split("") == []
    assert Pretokenizer.from_settings(cut.describe()) == cut


@pytest.mark.parametrize(
    ("form", "early", "late", "named"),
    [
        ("NFKC", [], [" "], "NFKC may make or change it"),
        ("NFC", [], ["<a>"], "NFC may make or change it"),
        (None, ["<a>"], ["x<"], "overlap"),
        ("NFC", ["<a>"], ["  "], None),
    ],
)
def test_normalized_added_tokens(form, early, late, named):
    entries = [{"content": text, "normalized": False} for text in early]
    entries += [{"content": text, "normalized": True} for text in late]
    if named is None:
        check_normalized(JsonValue(entries), form)
    else:
        with pytest.raises(NotExactError, match=named):
            check_normalized(JsonValue(entries), form)
