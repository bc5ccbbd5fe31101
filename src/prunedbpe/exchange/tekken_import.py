"""Import ``tekken.json``, the format of mistral-common: ranks, a pattern and special tokens.

The ids of special tokens come first, those of ordinary tokens after them, by rank. Only as many
tokens of the file count as ``default_vocab_size`` says. Text that spells a special token is
ordinary text for mistral-common, so its ids are those of ``encode(text, disallowed_special=())``.
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path

from prunedbpe._support.input_files import naming, read_json
from prunedbpe._support.json_values import JsonValue, shown
from prunedbpe.errors import FormatError
from prunedbpe.exchange.equivalent_patterns import cut_of_pattern
from prunedbpe.exchange.recovered_merges import imported_tokenizer, merges_of_ranks
from prunedbpe.pretokenizers.foreign_cut import STOCK_UNICODE_VERSION, check_unicode_version
from prunedbpe.tokenizer.imported import ImportedTokenizer

_MOST_SPECIAL_TOKENS = 100_000

# Those of files up to version 7 that name none.
_USUAL_SPECIAL_TOKENS = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)


def import_tekken(
    path: str | Path, *, unicode_version: str = STOCK_UNICODE_VERSION
) -> ImportedTokenizer:
    """Read a ``tekken.json``.

    Args:
        path: The file.
        unicode_version: The Unicode version of tiktoken, which mistral-common encodes with.

    Raises:
        NotExactError: The ranks do not describe byte-level BPE.
        FormatError: The file is damaged; the message names the place.
    """
    path = Path(path)
    return tekken_of(JsonValue(read_json(path)), path, unicode_version=unicode_version)


def tekken_of(
    settings: JsonValue, path: Path, *, unicode_version: str = STOCK_UNICODE_VERSION
) -> ImportedTokenizer:
    """As :func:`import_tekken`, with the contents of the file."""
    check_unicode_version(unicode_version)
    with naming(path):
        config = settings["config"]
        special_count = config["default_num_special_tokens"].integer()
        size = config["default_vocab_size"].integer()
        if not 0 <= special_count <= min(size, _MOST_SPECIAL_TOKENS):
            raise FormatError(
                f"config.default_num_special_tokens is {shown(special_count)}: too many for a "
                f"vocabulary of {shown(size)}"
            )
        specials = _special_tokens(settings["special_tokens"], special_count)
        ranks = _ranks(settings["vocab"], size - special_count)
        with naming("config.pattern"):
            cut = cut_of_pattern(config["pattern"].text(), unicode_version)
        return imported_tokenizer(
            merges_of_ranks(ranks),
            {token: rank + special_count for token, rank in ranks.items()},
            specials,
            cut,
            whole_chunks=True,
            origin={"format": "tekken.json", "file": path.name},
        )


def is_tekken(settings: JsonValue) -> bool:
    """Whether a JSON file is a ``tekken.json``, by its keys."""
    value = settings.value
    return isinstance(value, dict) and {"config", "vocab"} <= value.keys() and "model" not in value


def _ranks(entries: JsonValue, count: int) -> dict[bytes, int]:
    """Return the ranks of the first ``count`` tokens, which are 0, 1, 2 and so on."""
    ranks: dict[bytes, int] = {}
    for rank, entry in enumerate(entries.items()):
        if rank == count:
            break
        if entry["rank"].integer() != rank:
            raise entry["rank"].error(f"{rank}, the place in the list")
        try:
            token = base64.b64decode(entry["token_bytes"].text(), validate=True)
        except (binascii.Error, ValueError):
            token = b""
        if not token:
            raise entry["token_bytes"].error("a token in base64")
        if token in ranks:
            raise FormatError(f"{entry.path}: token {shown(token)} has an entry before")
        ranks[token] = rank
    if len(ranks) != count:
        raise FormatError(
            f"{entries.path} has {len(ranks)} tokens, but config.default_vocab_size needs {count}"
        )
    return ranks


def _special_tokens(entries: JsonValue, count: int) -> dict[str, int]:
    """Return the ids of special tokens; mistral-common fills up to ``count`` with names."""
    if entries:
        given = [(entry["token_str"].text(), entry["rank"].integer()) for entry in entries.items()]
    else:
        given = [(text, rank) for rank, text in enumerate(_USUAL_SPECIAL_TOKENS)]
    specials = dict(given)
    if len(specials) < len(given) or len(given) > count:
        raise FormatError(
            f"special_tokens has {len(given)} entries, {len(specials)} of them different, for "
            f"{count} special tokens"
        )
    for rank in range(len(given), count):
        name = f"<SPECIAL_{rank}>"
        if name in specials:
            raise FormatError(f"special_tokens has {shown(name)}, a name for a missing token")
        specials[name] = rank
    return specials
