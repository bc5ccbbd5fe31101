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
from typing import Any

import numpy as np

from prunedbpe._support.atomic_files import naming, read_json
from prunedbpe.errors import FormatError, NotExactError
from prunedbpe.exchange.byte_alphabet import from_byte_alphabet, to_byte_alphabet
from prunedbpe.exchange.equivalent_patterns import cut_by, cut_of_pattern
from prunedbpe.exchange.recovered_merges import imported_tokenizer, merges_of_list
from prunedbpe.exchange.unigram_model import pieces_of_unigram
from prunedbpe.pretokenizers import UNICODE_VERSION, Pretokenizer
from prunedbpe.pretokenizers.foreign_cut import STOCK_UNICODE_VERSION, ForeignCut
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
    path = Path(path)
    path = path / "tokenizer.json" if path.is_dir() else path
    settings = read_json(path)
    model = settings.get("model") if isinstance(settings, dict) else None
    if not isinstance(model, dict) or not isinstance(model.get("vocab"), (dict, list)):
        raise FormatError(f"{path}: not a tokenizer.json with a BPE or Unigram model")
    try:
        if model.get("type") == "Unigram":
            return _import_unigram(settings, unicode_version, path)
        _check_model(model)
        cut = replace(
            _cut(settings.get("pre_tokenizer"), unicode_version),
            normalization=_normalization(settings.get("normalizer")),
        )
        specials = _added_tokens(settings.get("added_tokens") or [])
        ids = _ids_by_bytes(model["vocab"], specials)
        merges = [_merge(entry) for entry in model.get("merges", [])]
        return imported_tokenizer(
            merges_of_list(ids, merges),
            ids,
            specials,
            cut,
            whole_chunks=bool(model.get("ignore_merges", False)),
            origin={"format": "Hugging Face tokenizer.json", "file": path.name},
        )
    except NotExactError as error:
        raise NotExactError(f"{path}: {error.message}", hint=error.hint) from error


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
    entries = read_json(vocab)
    if not isinstance(entries, dict):
        raise FormatError(f"{vocab}: not a JSON object of tokens and ids")
    pairs = []
    for number, line in enumerate(Path(merges).read_text("utf-8").split("\n"), 1):
        if not line.strip() or (number == 1 and line.startswith("#version")):
            continue
        try:
            pairs.append(_merge(line.rstrip("\r")))
        except NotExactError as error:
            raise FormatError(f"{merges}, line {number}: {error.message}") from None
    made = {left + right for left, right in pairs}
    if special_tokens is None:
        special_tokens = tuple(
            name
            for name in entries
            if _LOOKS_SPECIAL.fullmatch(name) and from_byte_alphabet(name) not in made
        )
    unknown = [name for name in special_tokens if name not in entries]
    if unknown:
        raise FormatError(f"{vocab}: lacks the special token {unknown[0]!r}")
    specials = {name: int(entries[name]) for name in special_tokens}
    ids = _ids_by_bytes(entries, specials)
    return imported_tokenizer(
        merges_of_list(ids, pairs),
        ids,
        specials,
        cut_by(pretokenizer, unicode_version),
        origin={"format": "vocab.json and merges.txt", "file": Path(vocab).name},
    )


def _import_unigram(settings: Settings, unicode_version: str, path: Path) -> ImportedTokenizer:
    """Import a model of equal scores. The file has no merges, so only the bytes have ranks."""
    with naming(path):
        ids = pieces_of_unigram(settings["model"])
    normalizer = settings.get("normalizer")
    if normalizer and normalizer.get("type") == "ByteLevel" and not settings.get("pre_tokenizer"):
        cut = ForeignCut(Pretokenizer("none"), UNICODE_VERSION)
    elif normalizer:
        raise NotExactError(
            f"normalizer {normalizer.get('type')} is not supported with a Unigram model"
        )
    else:
        cut = _cut(settings.get("pre_tokenizer"), unicode_version)
    specials = _added_tokens(settings.get("added_tokens") or [])
    names = set(map(to_byte_alphabet, ids))
    for place, (text, token_id) in enumerate(specials.items(), len(ids)):
        if text in names or token_id != place:
            raise NotExactError(
                f"added token {text!r} (id {token_id}): added tokens must have the ids after the "
                "pieces, in order, and must not be pieces themselves"
            )
    vocabulary = ForeignVocabulary(
        np.zeros((0, 2), np.uint32),
        np.ones(BYTE_COUNT, bool),
        tuple(specials),
        ids_of_ranks=tuple(ids[bytes([byte])] for byte in range(BYTE_COUNT)),
        ids_of_specials=tuple(specials.values()),
        unmergeable=tuple((string, token_id) for string, token_id in ids.items() if string[1:]),
    )
    origin = {"format": "Hugging Face tokenizer.json, Unigram", "file": path.name}
    return ImportedTokenizer(vocabulary, cut, origin=origin, segmentation="shortest")


def _check_model(model: Settings) -> None:
    if model.get("type", "BPE") != "BPE" or not isinstance(model["vocab"], dict):
        raise NotExactError(f"the model is {model.get('type')}, neither BPE nor Unigram")
    if model.get("dropout"):
        raise NotExactError(
            f"dropout={model['dropout']}: the original encodes at random",
            hint="set it to null and pass dropout to encode()",
        )
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name):
            raise NotExactError(f"{name}={model[name]!r} is not supported: not byte-level BPE")


def _cut(settings: Any, unicode_version: str) -> ForeignCut:
    """Read the pretokenizer: a byte-level step, alone or after one split."""
    steps = [settings] if settings else []
    if settings and settings.get("type") == "Sequence":
        steps = list(settings["pretokenizers"])
    if not steps or steps[-1].get("type") != "ByteLevel":
        kinds = ", ".join(str(step.get("type")) for step in steps) or "none"
        raise NotExactError(f"pre_tokenizer {kinds}: only byte-level BPE (ByteLevel) is supported")
    *splits, byte_level = steps
    if byte_level.get("add_prefix_space", True):
        raise NotExactError("pre_tokenizer ByteLevel with add_prefix_space=true is not supported")
    if byte_level.get("use_regex", True):
        if splits:
            raise NotExactError("pre_tokenizer ByteLevel with use_regex after another split")
        return ForeignCut(Pretokenizer("gpt2"), unicode_version)
    if not splits:
        return ForeignCut(Pretokenizer("none"), UNICODE_VERSION)
    if len(splits) > 1 or splits[0].get("type") != "Split":
        kinds = ", ".join(str(step.get("type")) for step in splits)
        raise NotExactError(f"pre_tokenizer {kinds}: only one Split by a pattern is supported")
    return _split(splits[0], unicode_version)


def _split(split: Settings, unicode_version: str) -> ForeignCut:
    pattern = split.get("pattern", {}).get("Regex")
    if pattern is None:
        raise NotExactError(f"pre_tokenizer Split by {split.get('pattern')!r}, not by a Regex")
    behavior, invert = split.get("behavior"), bool(split.get("invert"))
    cut = cut_of_pattern(pattern, unicode_version)
    covers_all = cut.pretokenizer.pattern is None  # a scanner leaves no gap between two matches
    if (behavior, invert) == ("Isolated", False) or (
        covers_all and (behavior, invert) == ("Removed", True)
    ):
        return cut
    raise NotExactError(f"pre_tokenizer Split with behavior {behavior!r}, invert={invert}")


def _normalization(settings: Any) -> str | None:
    if settings and settings.get("type") == "Sequence":
        steps = settings.get("normalizers", [])
        settings = steps[0] if len(steps) == 1 else settings if steps else None
    if not settings:
        return None
    if settings.get("type") == "NFC":
        return "NFC"
    raise NotExactError(f"normalizer {settings.get('type')} is not supported: only NFC is")


def _added_tokens(entries: list[Settings]) -> dict[str, int]:
    specials = {}
    for entry in entries:
        for name in ("lstrip", "rstrip", "single_word"):
            if entry.get(name):
                raise NotExactError(f"added token {entry['content']!r} with {name}=true")
        specials[str(entry["content"])] = int(entry["id"])
    return specials


def _ids_by_bytes(vocab: dict[str, Any], specials: dict[str, int]) -> dict[bytes, int]:
    """Return the ids of the model's tokens by their bytes, special tokens excepted."""
    ids = {}
    for name, token_id in vocab.items():
        if specials.get(name) == token_id:
            continue
        string = from_byte_alphabet(name)
        if not string:
            raise NotExactError(
                f"token {name!r} (id {token_id}) is not written in the byte alphabet: "
                "not byte-level BPE"
            )
        ids[string] = int(token_id)
    return ids


def _merge(entry: Any) -> tuple[bytes, bytes]:
    """Read a merge written as ``"a b"`` or ``["a", "b"]``."""
    parts = entry.split(" ") if isinstance(entry, str) else entry
    strings = [from_byte_alphabet(part) for part in parts] if isinstance(parts, list) else []
    if len(strings) != 2 or not strings[0] or not strings[1]:
        raise NotExactError(f"{entry!r} is not a merge of two byte-level tokens")
    return strings[0], strings[1]
