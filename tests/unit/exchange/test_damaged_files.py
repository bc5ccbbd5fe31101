"""Damaged files of other libraries: one fault at a time, and the place that the error names."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prunedbpe.errors import FormatError, NotExactError, PrunedBPEError
from prunedbpe.exchange.byte_alphabet import to_byte_alphabet
from prunedbpe.exchange.huggingface_import import import_gpt2_files
from prunedbpe.exchange.importing import import_tokenizer
from prunedbpe.exchange.tiktoken_import import import_tiktoken
from prunedbpe.tokenizer import Tokenizer

NAMES = [*(to_byte_alphabet(bytes([byte])) for byte in range(256)), "th", "the"]
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}


def settings() -> dict[str, Any]:
    """A ``tokenizer.json`` with the tokens th and the, and two added tokens."""
    return {
        "added_tokens": [{"id": 258, "content": "<a>"}, {"id": 259, "content": "<b>"}],
        "normalizer": None,
        "pre_tokenizer": dict(BYTE_LEVEL),
        "model": {
            "type": "BPE",
            "vocab": {name: place for place, name in enumerate(NAMES)},
            "merges": [["t", "h"], ["th", "e"]],
        },
    }


def split(pattern: Any) -> dict[str, Any]:
    step = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    return {"type": "Sequence", "pretokenizers": [step, {**BYTE_LEVEL, "use_regex": False}]}


def model(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda whole: whole["model"].update(changes)


def vocab(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda whole: whole["model"]["vocab"].update(changes)


def added(place: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda whole: whole["added_tokens"][place].update(changes)


def top(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda whole: whole.update(changes)


@pytest.mark.parametrize(
    ("change", "error", "named"),
    [
        (model(type=5), FormatError, "model.type is 5, not a text"),
        (model(vocab=[]), FormatError, "model.vocab is [], not an object"),
        (model(merges={}), FormatError, "model.merges is {}, not a list"),
        (model(merges=[["t", "h"], 5]), FormatError, "model.merges[1] is 5, not a merge"),
        (model(merges=["t h x"]), FormatError, "model.merges[0] is 't h x', not a merge"),
        (model(merges=[["t", 5]]), FormatError, "model.merges[0] is ['t', 5], not a merge"),
        (
            model(merges=[["t", "h"], ["h", "e"]]),
            NotExactError,
            "model.merges[1]: b'h' + b'e' needs the token b'he'",
        ),
        (model(ignore_merges="no"), FormatError, "model.ignore_merges is 'no', not true or"),
        (model(dropout=[]), NotExactError, "model.dropout is []"),
        (vocab(the=256), FormatError, "tokens b'th' and b'the' both have the id 256"),
        (vocab(the=-5), FormatError, "token b'the' has the id -5"),
        (vocab(the=257.0), FormatError, "token b'the' has the id 257.0"),
        (vocab(a=True), FormatError, "token b'a' has the id True"),
        (vocab(the=10**9), FormatError, "token b'the' has the id 1000000000, but there are only"),
        (vocab(the=258), FormatError, "tokens b'the' and '<a>' both have the id 258"),
        (
            lambda whole: whole["model"]["vocab"].pop("a"),
            NotExactError,
            "added_tokens[0]: the added token '<a>' has the id 258",
        ),
        (top(added_tokens=[5]), FormatError, "added_tokens[0] is 5, not an object"),
        (added(1, id="259"), FormatError, "added_tokens[1].id is '259', not a whole number"),
        (added(1, id=True), FormatError, "added_tokens[1].id is True, not a whole number"),
        (added(1, id=97), NotExactError, "has the id 97, but Hugging Face tokenizers give it"),
        (added(0, id=260), NotExactError, "has the id 260, but Hugging Face tokenizers give it"),
        (added(1, content="<a>"), FormatError, "added_tokens[1]: the added token '<a>' is given"),
        (added(1, content="the"), NotExactError, "give it the id 257"),
        (added(1, content=""), FormatError, "a special token is empty"),
        (added(1, content="\ud800"), FormatError, "added_tokens[1].content is '\\ud800', not"),
        (added(1, lstrip=5), FormatError, "added_tokens[1].lstrip is 5, not true or false"),
        (top(normalizer="NFC"), FormatError, "normalizer is 'NFC', not an object"),
        (top(pre_tokenizer=split("(")), FormatError, "[0].pattern.Regex: the pretokenizer '('"),
        (top(pre_tokenizer=split(5)), FormatError, "[0].pattern.Regex is 5, not a text"),
    ],
)
def test_tokenizer_json(
    change: Callable[[dict[str, Any]], None],
    error: type[PrunedBPEError],
    named: str,
    tmp_path: Path,
) -> None:
    whole = settings()
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(whole), "utf-8")
    assert import_tokenizer(path).encode("the<a>", allowed_special="all") == [257, 258]
    change(whole)
    path.write_text(json.dumps(whole), "utf-8")
    with pytest.raises(error) as refused:
        import_tokenizer(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert named in str(refused.value)


def test_missing_bytes_are_named(tmp_path: Path) -> None:
    whole = {**settings(), "added_tokens": []}
    del whole["model"]["vocab"]["a"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(whole), "utf-8")
    with pytest.raises(NotExactError, match=r"1 bytes have no token \(the first: 0x61\)"):
        import_tokenizer(tmp_path)


def test_places_in_vocab_json_and_merges_txt(tmp_path: Path) -> None:
    ids, merges = tmp_path / "vocab.json", tmp_path / "merges.txt"

    def refused(vocabulary: Any, lines: bytes) -> str:
        ids.write_text(json.dumps(vocabulary), "utf-8")
        merges.write_bytes(lines)
        with pytest.raises(PrunedBPEError) as error:
            import_gpt2_files(ids, merges)
        return str(error.value)

    vocabulary = settings()["model"]["vocab"]
    lines = b"#version: 0.2\nt h\r\n\nth e\n"
    assert f"{merges}, line 4: b'th' + b'h' needs the token b'thh'" in refused(
        vocabulary, lines.replace(b"th e", b"th h")
    )
    assert f"{merges}, line 2: 't" in refused(vocabulary, lines.replace(b"t h", b"t"))
    assert f"{merges}: not UTF-8 at byte 14" in refused(
        vocabulary, lines.replace(b"t h", b"\xff h")
    )
    assert f"{ids}: the top level is []" in refused([], lines)
    assert f"{ids}: tokens b'a' and b'the' both have" in refused({**vocabulary, "the": 97}, lines)
    assert f"{ids}: <x> is -1.5, not a whole number" in refused({**vocabulary, "<x>": -1.5}, lines)
    merges.unlink()
    with pytest.raises(FormatError, match=r"merges\.txt: no such file"):
        import_gpt2_files(ids, merges)


def write_ranks(path: Path, tokens: list[bytes]) -> Path:
    lines = [base64.b64encode(token).decode() + f" {rank}" for rank, token in enumerate(tokens)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


ALL_BYTES = [bytes([byte]) for byte in range(256)]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("dGg= 257x", "line 258: not of the form 'base64 rank'"),
        ("dGg=257", "line 258: not of the form 'base64 rank'"),
        ("dGg= +257", "line 258: not of the form 'base64 rank'"),
        ("dGg 257", "line 258: not of the form 'base64 rank'"),
        ("==== 257", "line 258: not of the form 'base64 rank'"),
        ("dGg= " + "9" * 5000, "line 258: not of the form 'base64 rank'"),
        ("YQ== 257", "line 258: token b'a' has a line above"),
        ("YR== 257", "line 258: token b'a' has a line above"),
        ("dGg= 97", "tokens b'a' and b'th' both have the id 97"),
        ("dGg= 1000000000", "token b'th' has the id 1000000000, but there are only 257 tokens"),
    ],
)
def test_lines_of_rank_files(line: str, named: str, tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "x.tiktoken", ALL_BYTES)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    with pytest.raises(FormatError) as refused:
        import_tiktoken(path, pretokenizer="gpt2")
    assert str(refused.value).startswith(f"{path}: {named}")


def test_settings_of_rank_files(tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "x.tiktoken", ALL_BYTES)
    described = tmp_path / "x.tiktoken.json"
    whole = {"pat_str": r"\w+|\W+", "special_tokens": {"<a>": 256}, "explicit_n_vocab": 257}
    described.write_text(json.dumps(whole), "utf-8")
    assert import_tiktoken(path).encode("<a>", allowed_special="all") == [256]
    for change, named in (
        ({"pat_str": "("}, f"{described}: pat_str: the pretokenizer '(' is not a valid"),
        ({"pat_str": 5}, f"{described}: pat_str is 5, not a text"),
        ({"special_tokens": []}, f"{described}: special_tokens is [], not an object"),
        ({"special_tokens": {"<a>": "5"}}, f"{path} with x.tiktoken.json: token '<a>' has the id"),
        ({"special_tokens": {"<a>": 97}}, "tokens b'a' and '<a>' both have the id 97"),
        ({"explicit_n_vocab": 300}, "the highest id is 256, but explicit_n_vocab is 300"),
        ({"explicit_n_vocab": 1.5}, f"{described}: explicit_n_vocab is 1.5"),
    ):
        described.write_text(json.dumps({**whole, **change}), "utf-8")
        with pytest.raises(FormatError) as refused:
            import_tiktoken(path)
        assert named in str(refused.value)


def test_long_tokens_take_no_quadratic_time(tmp_path: Path) -> None:
    """200,000 bytes that merge in pairs, and as many that do not merge at all."""
    long = [b"aa", b"a" * 200_000, b"xy" * 100_000]
    began = time.monotonic()
    tok = import_tiktoken(
        write_ranks(tmp_path / "x.tiktoken", ALL_BYTES + long), pretokenizer="none"
    )
    assert tok.encode("aaa") == [256, 97]
    assert tok.encode("a" * 200_000) == [257]  # whole chunks are looked up first
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"ids_of_ranks": None}, "ids_of_ranks has 0 ids for 258 tokens"),
        ({"ids_of_ranks": 5}, "ids_of_ranks is 5, not a list"),
        ({"ids_of_ranks": [*range(257), 0]}, r"tokens b'\x00' and b'the' both have the id 0"),
        ({"ids_of_specials": [258, 258]}, "tokens '<a>' and '<b>' both have the id 258"),
        ({"ids_of_specials": [258, 2**40]}, "token '<b>' has the id 1099511627776"),
        ({"unmergeable": [["YWE", 260]]}, "unmergeable[0] is ['YWE', 260], not a token in base64"),
        ({"unmergeable": [["dGg=", 260]]}, "two tokens spell b'th'"),
        ({"unmergeable": ["YWE="]}, "unmergeable[0] is 'YWE=', not a token in base64"),
        ({"whole_chunks": 1}, "whole_chunks is 1, not true or false"),
        ({"origin": []}, "origin is [], not an object"),
        ({"cut": None}, "cut is missing or null, not an object"),
        ({"version": True}, "version is True, not a whole number"),
    ],
)
def test_saved_imports(change: dict[str, Any], named: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings()), "utf-8")
    import_tokenizer(tmp_path).save(tmp_path / "saved")
    path = tmp_path / "saved" / "prunedbpe.json"
    whole = json.loads(path.read_bytes())
    path.write_text(json.dumps({**whole, **change}), "utf-8")
    with pytest.raises(FormatError) as refused:
        Tokenizer.load(tmp_path / "saved")
    assert str(refused.value).startswith(f"{path}: {named}")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"unicode_version": "3.0.0"}, "Unicode '3.0.0' is not supported"),
        ({"unicode_version": []}, "cut.unicode_version is [], not a text"),
        ({"normalization": "NFKD"}, "normalization 'NFKD' is not supported"),
        ({"pretokenizer": {"name": 5}}, "cut.pretokenizer.name is 5, not a text"),
        ({"pretokenizer": {"name": "regex", "pattern": "("}}, "cut.pretokenizer: the pretokenizer"),
    ],
)
def test_cuts_of_saved_imports(change: dict[str, Any], named: str, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings()), "utf-8")
    import_tokenizer(tmp_path).save(tmp_path / "saved")
    path = tmp_path / "saved" / "prunedbpe.json"
    whole = json.loads(path.read_bytes())
    whole["cut"].update(change)
    path.write_text(json.dumps(whole), "utf-8")
    with pytest.raises(FormatError) as refused:
        Tokenizer.load(tmp_path / "saved")
    assert str(refused.value).startswith(f"{path}: {named}")
