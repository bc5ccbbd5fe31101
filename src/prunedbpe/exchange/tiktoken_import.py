"""Import from tiktoken: a rank file, or an ``Encoding`` object.

A rank file holds tokens and priorities only; the program that loads it knows the pattern and the
special tokens. Give both, unless the file is a published one, or the JSON file that our export
writes is next to it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from prunedbpe._support.arguments import to_path
from prunedbpe._support.input_files import naming, read_json, read_text
from prunedbpe._support.json_values import JsonValue, shown
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.exchange.equivalent_patterns import cut_by, cut_of_pattern
from prunedbpe.exchange.published_ranks import published_ranks
from prunedbpe.exchange.recovered_merges import imported_tokenizer, merges_of_ranks
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.pretokenizers.foreign_cut import (
    STOCK_UNICODE_VERSION,
    ForeignCut,
    check_unicode_version,
)
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.types import Settings

if TYPE_CHECKING:
    import tiktoken

# At most ten digits: longer numbers are not ids, and int() refuses thousands of digits.
_LINE = re.compile(r"(\S+)\s+(\d{1,10})", re.ASCII)


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
        FormatError: A line is malformed, or two tokens have one id; the message names the place.
    """
    path = to_path(path)
    check_unicode_version(unicode_version)
    settings_file = path.with_name(path.name + ".json")
    text = read_text(path)
    size = None
    files = str(path)
    defaults: Mapping[str, int] = {}
    if pretokenizer is not None:
        cut = cut_by(pretokenizer, unicode_version)
    elif settings_file.is_file():
        cut, defaults, size = _read_encoding_settings(settings_file, unicode_version)
        files = f"{path} with {settings_file.name}"
    elif known := published_ranks(path.name, text):
        cut, defaults = cut_by(known.pretokenizer, unicode_version), known.special_tokens
    else:
        raise SettingsError(
            f"{path}: a rank file does not say how text is cut",
            hint="give the pretokenizer: gpt2, cl100k, o200k or the pattern of the encoding",
        )
    with naming(path):
        ranks = _parse_ranks(text)
    with naming(files):
        tokenizer = _import(
            ranks,
            cut,
            dict(defaults if special_tokens is None else special_tokens),
            {"format": "tiktoken ranks", "file": path.name},
        )
    if size not in (None, tokenizer.vocab_size) and special_tokens is None:
        raise FormatError(
            f"{files}: the highest id is {tokenizer.vocab_size - 1}, but explicit_n_vocab is "
            f"{shown(size)}",
            hint="the files do not belong together, or one of them is cut off",
        )
    return tokenizer


def _read_encoding_settings(
    path: Path, unicode_version: str
) -> tuple[ForeignCut, dict[str, int], int | None]:
    """Return the cut, the special tokens and the size in the JSON file that our export writes."""
    settings = JsonValue(read_json(path))
    with naming(path):
        pattern = settings["pat_str"].text()
        with naming("pat_str"):
            cut = cut_of_pattern(pattern, unicode_version)
        specials = settings["special_tokens"].object() if settings["special_tokens"] else {}
        size = settings["explicit_n_vocab"]
        return cut, specials, size.integer() if size else None


def import_encoding(
    encoding: tiktoken.Encoding, *, unicode_version: str = STOCK_UNICODE_VERSION
) -> ImportedTokenizer:
    """Import a ``tiktoken.Encoding`` object."""
    return _import(
        {token: rank for token, rank in encoding._mergeable_ranks.items() if token},
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


def _parse_ranks(text: str) -> dict[bytes, int]:
    """Read the lines. An empty token, as in ``= 50256``, is left out: no text becomes it."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line:
            continue
        match = _LINE.fullmatch(line)
        if match and match[1] == "=":
            continue
        try:
            token = base64.b64decode(match[1], validate=True) if match else b""
        except binascii.Error:
            token = b""
        if match is None or not token:
            raise FormatError(f"line {number}: not of the form 'base64 rank': {shown(line)}")
        if token in ranks:
            raise FormatError(f"line {number}: token {shown(token)} has a line above")
        ranks[token] = int(match[2])
    return ranks
