"""Import from tiktoken: a rank file, or an ``Encoding`` object.

A rank file holds tokens and priorities only; the program that loads it knows the pattern and the
special tokens. Give both, unless the file has the name of a public encoding, or the JSON file that
our export writes is next to it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from prunedbpe._support.atomic_files import read_json
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.exchange.equivalent_patterns import cut_by, cut_of_pattern
from prunedbpe.exchange.recovered_merges import imported_tokenizer, merges_of_ranks
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.pretokenizers.foreign_cut import STOCK_UNICODE_VERSION, ForeignCut
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.types import Settings

if TYPE_CHECKING:
    import tiktoken

_FILL_IN_THE_MIDDLE = {"<|fim_prefix|>": 100258, "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260}
PUBLIC_ENCODINGS: dict[str, tuple[str, dict[str, int]]] = {
    "r50k_base": ("gpt2", {"<|endoftext|>": 50256}),
    "p50k_base": ("gpt2", {"<|endoftext|>": 50256}),
    "cl100k_base": (
        "cl100k",
        {"<|endoftext|>": 100257, **_FILL_IN_THE_MIDDLE, "<|endofprompt|>": 100276},
    ),
    "o200k_base": ("o200k", {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
}
"""Pretokenizer and special tokens of the public encodings, by the name of the rank file."""


def import_tiktoken(
    path: str | Path,
    *,
    pretokenizer: str | Pretokenizer | None = None,
    special_tokens: Mapping[str, int] | None = None,
    unicode_version: str = STOCK_UNICODE_VERSION,
) -> ImportedTokenizer:
    """Read a rank file: lines of ``base64(bytes) rank``.

    Args:
        path: The file.
        pretokenizer: A built-in name or the pattern of the encoding.
        special_tokens: Special tokens and their ids.
        unicode_version: The Unicode version of the library to reproduce.

    Raises:
        NotExactError: The ranks do not describe byte-level BPE.
        SettingsError: Neither the arguments nor the file tell how to cut text.
        FormatError: A line is malformed.
    """
    path = Path(path)
    settings_file = path.with_name(path.name + ".json")
    public = PUBLIC_ENCODINGS.get(path.name.split(".")[0])
    defaults: Mapping[str, int] = {}
    if pretokenizer is not None:
        cut = cut_by(pretokenizer, unicode_version)
    elif settings_file.is_file():
        settings = read_json(settings_file)
        cut = cut_of_pattern(str(settings["pat_str"]), unicode_version)
        defaults = settings.get("special_tokens", {})
    elif public:
        name, defaults = public
        cut = cut_by(name, unicode_version)
    else:
        raise SettingsError(
            f"{path}: a rank file does not say how text is cut",
            hint="give the pretokenizer: gpt2, cl100k, o200k or the pattern of the encoding",
        )
    return _import(
        _read_ranks(path),
        cut,
        dict(defaults if special_tokens is None else special_tokens),
        {"format": "tiktoken ranks", "file": path.name},
    )


def import_encoding(
    encoding: tiktoken.Encoding, *, unicode_version: str = STOCK_UNICODE_VERSION
) -> ImportedTokenizer:
    """Import a ``tiktoken.Encoding`` object."""
    return _import(
        dict(encoding._mergeable_ranks),
        cut_of_pattern(encoding._pat_str, unicode_version),
        dict(encoding._special_tokens),
        {"format": "tiktoken encoding", "name": encoding.name},
    )


def _import(
    ranks: dict[bytes, int],
    cut: ForeignCut,
    special_tokens: dict[str, int],
    origin: Settings,
) -> ImportedTokenizer:
    return imported_tokenizer(
        merges_of_ranks(ranks), ranks, special_tokens, cut, whole_chunks=True, origin=origin
    )


def _read_ranks(path: Path) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        raise FormatError(f"{path}: no such file") from None
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token, validate=True)] = int(rank)
        except (ValueError, binascii.Error):
            raise FormatError(
                f"{path}, line {number}: not of the form 'base64 rank': {line!r}"
            ) from None
    return ranks
