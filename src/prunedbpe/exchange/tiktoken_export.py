"""Export to tiktoken: a rank file, and a JSON file with the pattern and the special tokens.

``NAME.tiktoken`` has one line per token, ``base64(bytes) rank``. The format has no field for the
pattern and the special tokens, so they go to ``NAME.tiktoken.json``. The export is exact for
Standard BPE, where priority and id are the same number, and refused for pruned vocabularies.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

from prunedbpe._support.arguments import to_path
from prunedbpe._support.atomic_files import json_bytes, write_together
from prunedbpe.errors import MissingExtraError
from prunedbpe.exchange.equivalent_patterns import equivalent_pattern
from prunedbpe.exchange.exactness import require_standard
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import Settings

if TYPE_CHECKING:
    import tiktoken


def write_tiktoken(tokenizer: Tokenizer, path: str | Path) -> None:
    """Write the rank file, and ``path`` + ``.json`` with the other arguments of an ``Encoding``.

    Raises:
        NotExactError: The vocabulary is pruned or imported, or no pattern cuts as its pretokenizer.
    """
    path = to_path(path)
    arguments = _encoding_arguments(tokenizer, path.name.removesuffix(".tiktoken"))
    lines = [
        base64.b64encode(string) + b" %d\n" % rank
        for rank, string in enumerate(tokenizer.vocabulary.strings)
    ]
    contents = {path.name: b"".join(lines), path.name + ".json": json_bytes(arguments)}
    write_together(path.parent, contents)


def to_tiktoken(tokenizer: Tokenizer, name: str = "prunedbpe") -> tiktoken.Encoding:
    """Return a ``tiktoken.Encoding`` that encodes exactly as the tokenizer does.

    Raises:
        NotExactError: The vocabulary is pruned or imported, or no pattern cuts as its pretokenizer.
        MissingExtraError: tiktoken is not installed.
    """
    try:
        import tiktoken
    except ImportError as error:
        raise MissingExtraError("tiktoken", "tiktoken", "An Encoding of tiktoken") from error
    return tiktoken.Encoding(
        **_encoding_arguments(tokenizer, name),
        mergeable_ranks={string: rank for rank, string in enumerate(tokenizer.vocabulary.strings)},
    )


def _encoding_arguments(tokenizer: Tokenizer, name: str) -> Settings:
    """Return the arguments of ``tiktoken.Encoding`` except the ranks."""
    require_standard(tokenizer, "tiktoken")
    return {
        "name": name,
        "pat_str": equivalent_pattern(tokenizer.pretokenizer),
        "special_tokens": dict(tokenizer.vocabulary.special_ids),
        "explicit_n_vocab": tokenizer.vocabulary.vocab_size,
    }
