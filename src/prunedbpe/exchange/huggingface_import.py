"""Import Hugging Face files: ``tokenizer.json``, or ``vocab.json`` with ``merges.txt``.

In: byte-level BPE, or a byte-level Unigram model in which every piece has the score -1.0, which
cuts text into the fewest tokens.

A feature that the encoder cannot reproduce exactly is refused by name. The imported tokenizer's
``encode(text, allowed_special="all")`` equals ``Tokenizer.encode(text, add_special_tokens=False)``
of that library, which always finds added tokens in text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from prunedbpe._support.arguments import to_path
from prunedbpe._support.input_files import naming, read_json, read_text
from prunedbpe._support.json_values import JsonValue, shown
from prunedbpe.errors import FormatError, NotExactError
from prunedbpe.exchange.byte_alphabet import from_byte_alphabet, to_byte_alphabet
from prunedbpe.exchange.equivalent_patterns import cut_by, cut_of_pattern
from prunedbpe.exchange.recovered_merges import imported_tokenizer, merges_of_list
from prunedbpe.exchange.unigram_model import pieces_of_unigram
from prunedbpe.pretokenizers import UNICODE_VERSION, Pretokenizer
from prunedbpe.pretokenizers.foreign_cut import (
    STOCK_UNICODE_VERSION,
    ForeignCut,
    check_unicode_version,
)
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.types import BYTE_COUNT, Settings
from prunedbpe.vocabulary.foreign_vocabulary import ForeignVocabulary

_LOOKS_SPECIAL = re.compile(r"<[^<>]+>|\[[A-Z_]+\]")


def import_huggingface(
    path: str | Path, *, unicode_version: str = STOCK_UNICODE_VERSION
) -> ImportedTokenizer:
    """Read a ``tokenizer.json``.

    Args:
        path: The file or its folder.
        unicode_version: The Unicode version of the library to reproduce.

    Raises:
        NotExactError: The file uses an unsupported feature; the message names it.
        FormatError: The file is not a ``tokenizer.json``.
    """
    path = to_path(path)
    path = path / "tokenizer.json" if path.is_dir() else path
    check_unicode_version(unicode_version)
    settings = JsonValue(read_json(path))
    with naming(path):
        if not settings["model"]:
            raise FormatError("not a tokenizer.json: it has no model")
        kind = settings["model"]["type"]
        if kind and kind.text() == "Unigram":
            return _import_unigram(settings, unicode_version, path.name)
        return _import_bpe(settings, unicode_version, path.name)


def import_gpt2_files(
    vocab: str | Path,
    merges: str | Path,
    *,
    pretokenizer: str | Pretokenizer = "gpt2",
    special_tokens: tuple[str, ...] | None = None,
    unicode_version: str = STOCK_UNICODE_VERSION,
) -> ImportedTokenizer:
    """Read ``vocab.json`` and ``merges.txt`` of the GPT-2 format.

    Args:
        vocab: Ids by token, in the byte alphabet.
        merges: One merge per line, two tokens separated by a space.
        pretokenizer: How to cut text, which the files do not say.
        special_tokens: The special tokens, which the files do not mark. By default, tokens that
            look like ``<...>`` or ``[NAME]`` and that no merge produces.
        unicode_version: The Unicode version of the library to reproduce.
    """
    check_unicode_version(unicode_version)
    cut = cut_by(pretokenizer, unicode_version)
    entries = JsonValue(read_json(vocab))
    with naming(vocab):
        ids_by_name = entries.object()
    pairs, lines = _read_merges(to_path(merges))
    made = {left + right for left, right in pairs}
    if special_tokens is None:
        special_tokens = tuple(
            name
            for name in ids_by_name
            if _LOOKS_SPECIAL.fullmatch(name) and from_byte_alphabet(name) not in made
        )
    with naming(vocab):
        for name in special_tokens:
            if not entries[name]:
                raise FormatError(f"lacks the special token {shown(name)}")
        specials = {name: entries[name].integer() for name in special_tokens}
        ids = _ids_by_bytes(ids_by_name, specials)
        found = merges_of_list(ids, pairs, lambda place: f"{merges}, line {lines[place]}")
        origin = {"format": "vocab.json and merges.txt", "file": Path(vocab).name}
        return imported_tokenizer(found, ids, specials, cut, origin=origin)


def _read_merges(path: Path) -> tuple[list[tuple[bytes, bytes]], list[int]]:
    """Read ``merges.txt``: the two parts of every merge, and its line."""
    pairs, lines = [], []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip() or (number == 1 and line.startswith("#version")):
            continue
        pair = _merge(line.rstrip("\r"))
        if pair is None:
            raise FormatError(
                f"{path}, line {number}: {shown(line)} is not a merge of two byte-level tokens"
            )
        pairs.append(pair)
        lines.append(number)
    return pairs, lines


def _import_bpe(settings: JsonValue, unicode_version: str, name: str) -> ImportedTokenizer:
    model = settings["model"]
    _check_model(model)
    cut = replace(
        _cut(settings["pre_tokenizer"], unicode_version),
        normalization=_normalization(settings["normalizer"]),
    )
    specials = _added_tokens(settings["added_tokens"], model["vocab"].object())
    ids = _ids_by_bytes(model["vocab"].object(), specials)
    pairs = []
    for merge in model["merges"].items():
        pair = _merge(merge.value)
        if pair is None:
            raise merge.error("a merge of two byte-level tokens")
        pairs.append(pair)
    return imported_tokenizer(
        merges_of_list(ids, pairs, "model.merges[{}]".format),
        ids,
        specials,
        cut,
        whole_chunks=model["ignore_merges"].flag(default=False),
        origin={"format": "Hugging Face tokenizer.json", "file": name},
    )


def _import_unigram(settings: JsonValue, unicode_version: str, name: str) -> ImportedTokenizer:
    """Import a model of equal scores. The file has no merges, so only the bytes have ranks."""
    ids = pieces_of_unigram(settings["model"].object())
    normalizer = settings["normalizer"]
    if not normalizer:
        cut = _cut(settings["pre_tokenizer"], unicode_version)
    elif normalizer["type"].text() == "ByteLevel" and not settings["pre_tokenizer"]:
        cut = ForeignCut(Pretokenizer("none"), UNICODE_VERSION)
    else:
        raise NotExactError(
            f"normalizer {shown(normalizer['type'].value)} is not supported with a Unigram model"
        )
    ids_by_name = {to_byte_alphabet(string): token_id for string, token_id in ids.items()}
    specials = _added_tokens(settings["added_tokens"], ids_by_name)
    vocabulary = ForeignVocabulary(
        np.zeros((0, 2), np.uint32),
        np.ones(BYTE_COUNT, bool),
        tuple(specials),
        ids_of_ranks=tuple(ids[bytes([byte])] for byte in range(BYTE_COUNT)),
        ids_of_specials=tuple(specials.values()),
        unmergeable=tuple((string, token_id) for string, token_id in ids.items() if string[1:]),
    )
    origin = {"format": "Hugging Face tokenizer.json, Unigram", "file": name}
    return ImportedTokenizer(vocabulary, cut, origin=origin, segmentation="shortest")


def _check_model(model: JsonValue) -> None:
    kind = model["type"].text() if model["type"] else "BPE"
    if kind != "BPE":
        raise NotExactError(f"the model is {shown(kind)}, neither BPE nor Unigram")
    if model["dropout"].value not in (None, 0):
        raise NotExactError(
            f"model.dropout is {shown(model['dropout'].value)}: the original encodes at random",
            hint="set it to null and pass dropout to encode()",
        )
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model[name].value not in (None, ""):
            raise NotExactError(
                f"model.{name} is {shown(model[name].value)}: not supported, not byte-level BPE"
            )


def _cut(settings: JsonValue, unicode_version: str) -> ForeignCut:
    """Read the pretokenizer: a byte-level step, alone or after one split."""
    steps = [settings] if settings else []
    if settings and settings["type"].text() == "Sequence":
        steps = list(settings["pretokenizers"].items())
    kinds = [step["type"].text() for step in steps]
    if not steps or kinds[-1] != "ByteLevel":
        raise NotExactError(
            f"pre_tokenizer {shown(', '.join(kinds)) if kinds else 'none'}: only byte-level BPE "
            "(ByteLevel) is supported"
        )
    *splits, byte_level = steps
    if byte_level["add_prefix_space"].flag(default=True):
        raise NotExactError("pre_tokenizer ByteLevel with add_prefix_space=true is not supported")
    if byte_level["use_regex"].flag(default=True):
        if splits:
            raise NotExactError("pre_tokenizer ByteLevel with use_regex after another split")
        return ForeignCut(Pretokenizer("gpt2"), unicode_version)
    if not splits:
        return ForeignCut(Pretokenizer("none"), UNICODE_VERSION)
    if kinds[:-1] != ["Split"]:
        raise NotExactError(
            f"pre_tokenizer {shown(', '.join(kinds[:-1]))}: only one Split by a pattern is "
            "supported"
        )
    return _split(splits[0], unicode_version)


def _split(split: JsonValue, unicode_version: str) -> ForeignCut:
    pattern = split["pattern"]["Regex"]
    if not pattern:
        raise NotExactError(
            f"pre_tokenizer Split by {shown(split['pattern'].value)}, not by a Regex"
        )
    behavior, invert = split["behavior"].text(), split["invert"].flag(default=False)
    expression = pattern.text()
    with naming(pattern.path):
        cut = cut_of_pattern(expression, unicode_version)
    covers_all = cut.pretokenizer.pattern is None  # a scanner leaves no gap between two matches
    if (behavior, invert) == ("Isolated", False) or (
        covers_all and (behavior, invert) == ("Removed", True)
    ):
        return cut
    raise NotExactError(f"pre_tokenizer Split with behavior {shown(behavior)}, invert={invert}")


def _normalization(settings: JsonValue) -> str | None:
    if settings and settings["type"].text() == "Sequence":
        steps = list(settings["normalizers"].items())
        if not steps:
            return None
        settings = steps[0] if len(steps) == 1 else settings
    if not settings:
        return None
    kind = settings["type"].text()
    if kind == "NFC":
        return "NFC"
    raise NotExactError(f"normalizer {shown(kind)} is not supported: only NFC is")


def _added_tokens(entries: JsonValue, vocab: Settings) -> dict[str, int]:
    """Return the ids of added tokens by their text.

    Args:
        entries: The list ``added_tokens``.
        vocab: The ids of the model's tokens by their names.

    Raises:
        NotExactError: Hugging Face tokenizers would give a token another id than the file does.
            They ignore that id: a token of the model keeps its id, others come after the model.
    """
    specials: dict[str, int] = {}
    next_id = len(vocab)
    for entry in entries.items():
        content, token_id = entry["content"].text(), entry["id"].integer()
        for name in ("lstrip", "rstrip", "single_word"):
            if entry[name].flag(default=False):
                raise NotExactError(f"added token {shown(content)} with {name}=true")
        if content in specials:
            raise FormatError(f"{entry.path}: the added token {shown(content)} is given twice")
        if content in vocab:
            expected = vocab[content]
        else:
            expected, next_id = next_id, next_id + 1
        if token_id != expected:
            raise NotExactError(
                f"{entry.path}: the added token {shown(content)} has the id {shown(token_id)}, but "
                f"Hugging Face tokenizers give it the id {shown(expected)}: the one in the "
                "vocabulary, or else the next after the vocabulary and the added tokens before it"
            )
        specials[content] = token_id
    return specials


def _ids_by_bytes(vocab: Settings, specials: dict[str, int]) -> dict[bytes, int]:
    """Return the ids of the model's tokens by their bytes, special tokens excepted."""
    ids = {}
    for name, token_id in vocab.items():
        if name in specials:
            continue
        string = from_byte_alphabet(name)
        if not string:
            raise NotExactError(
                f"token {shown(name)} (id {shown(token_id)}) is not written in the byte alphabet: "
                "not byte-level BPE"
            )
        ids[string] = token_id
    return ids


def _merge(entry: object) -> tuple[bytes, bytes] | None:
    """Read a merge written as ``"a b"`` or ``["a", "b"]``; ``None`` if it is neither."""
    match entry.split(" ") if isinstance(entry, str) else entry:
        case [str() as first, str() as second]:
            left, right = from_byte_alphabet(first), from_byte_alphabet(second)
            if left and right:
                return left, right
    return None
