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
from prunedbpe.exchange.equivalent_patterns import cut_by
from prunedbpe.exchange.huggingface_cut import cut_of_steps, normalization_of
from prunedbpe.exchange.normalized_tokens import check_normalized
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
    return huggingface_of(read_json(path), path, unicode_version=unicode_version)


def huggingface_of(
    contents: Settings, path: Path, *, unicode_version: str = STOCK_UNICODE_VERSION
) -> ImportedTokenizer:
    """As :func:`import_huggingface`, with the contents of the file."""
    check_unicode_version(unicode_version)
    settings = JsonValue(contents)
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
        cut_of_steps(settings["pre_tokenizer"], unicode_version),
        normalization=normalization_of(settings["normalizer"]),
    )
    specials = _added_tokens(settings["added_tokens"], model["vocab"].object())
    check_normalized(settings["added_tokens"], cut.normalization)
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
        cut = cut_of_steps(settings["pre_tokenizer"], unicode_version)
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
    """Return the ids of the model's tokens by their bytes.

    Special tokens are left out, and so are tokens that are not written in the byte alphabet: no
    text holds them once its bytes are spelled in that alphabet. Their ids stay unused.
    """
    ids = {}
    for name, token_id in vocab.items():
        string = b"" if name in specials else from_byte_alphabet(name)
        if string:
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
