"""A tiktoken rank file, its merges recovered; or the ``Encoding`` object itself.

A rank file names tokens and priorities only. How text is cut and which tokens are special stands
in the program that loads it, so both must be given, unless the file came with the JSON that our
own export writes beside it, or has the name of a public encoding.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from prunedbpe._support.atomic_files import read_json
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.exchange.known_patterns import cut_by, cut_of_pattern
from prunedbpe.exchange.recovered_merges import imported_tokenizer, merges_of_ranks
from prunedbpe.pretokenizers import BUILTIN_PRETOKENIZERS, Pretokenizer
from prunedbpe.pretokenizers.foreign_cut import STOCK_UNICODE_VERSION, ForeignCut
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.types import Settings

if TYPE_CHECKING:
    import tiktoken

# The special tokens of the public encodings, by the name of their rank file.
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
        unicode_version: That of the library to be equal to.

    Raises:
        NotExactError: The ranks are not those of byte-level BPE.
        SettingsError: It is not known how text is cut.
        FormatError: A line is wrong.
    """
    path = Path(path)
    beside = path.with_name(path.name + ".json")
    if pretokenizer is None and beside.is_file():
        settings = read_json(beside)
        pretokenizer = str(settings["pat_str"])
        if special_tokens is None:
            special_tokens = settings.get("special_tokens", {})
    public = PUBLIC_ENCODINGS.get(path.name.split(".")[0])
    if pretokenizer is None and public:
        pretokenizer, defaults = public
        special_tokens = defaults if special_tokens is None else special_tokens
    if pretokenizer is None:
        raise SettingsError(
            f"{path}: a rank file does not say how text is cut",
            hint="give the pretokenizer: gpt2, cl100k, o200k or the encoding's pattern",
        )
    return _import(
        _read_ranks(path),
        _cut(pretokenizer, unicode_version),
        dict(special_tokens or {}),
        {"format": "tiktoken ranks", "file": path.name},
    )


def import_encoding(
    encoding: tiktoken.Encoding, *, unicode_version: str = STOCK_UNICODE_VERSION
) -> ImportedTokenizer:
    """Take over a ``tiktoken.Encoding`` in memory."""
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
        merges_of_ranks(ranks),
        ranks,
        special_tokens,
        cut,
        whole_chunks=True,
        origin=origin,
    )


def _cut(pretokenizer: str | Pretokenizer, unicode_version: str) -> ForeignCut:
    if isinstance(pretokenizer, Pretokenizer) or pretokenizer in BUILTIN_PRETOKENIZERS:
        return cut_by(pretokenizer, unicode_version)
    return cut_of_pattern(pretokenizer, unicode_version)


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
