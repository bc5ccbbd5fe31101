"""A tokenizer for tiktoken: a rank file, and the pattern and special tokens beside it.

``NAME.tiktoken`` has one line per token, ``base64(bytes) rank``; tiktoken's format has no place
for the pattern and the special tokens, which go to ``NAME.tiktoken.json``. Exact for Standard BPE,
where priority and id are the same number; refused for pruned vocabularies.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

from prunedbpe._support.atomic_files import atomic_write, write_json
from prunedbpe.errors import MissingExtraError
from prunedbpe.exchange.equivalent_patterns import equivalent_pattern
from prunedbpe.exchange.exactness import HasVocabulary, require_standard

if TYPE_CHECKING:
    import tiktoken


def write_tiktoken(tokenizer: HasVocabulary, path: str | Path) -> None:
    """Write the rank file, and ``path`` + ``.json`` with all else an ``Encoding`` needs.

    Raises:
        NotExactError: The vocabulary is pruned, or cut by a regular expression.
    """
    vocabulary = tokenizer.vocabulary
    require_standard(vocabulary, "tiktoken")
    path = Path(path)
    # Exactly the arguments of tiktoken.Encoding beside the ranks.
    settings = {
        "name": path.name.removesuffix(".tiktoken"),
        "pat_str": equivalent_pattern(tokenizer.pretokenizer),
        "special_tokens": vocabulary.special_ids,
        "explicit_n_vocab": vocabulary.vocab_size,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        for rank, string in enumerate(vocabulary.strings):
            file.write(base64.b64encode(string) + b" %d\n" % rank)
    write_json(path.with_name(path.name + ".json"), settings)


def to_tiktoken(tokenizer: HasVocabulary, name: str = "prunedbpe") -> tiktoken.Encoding:
    """The tokenizer as a ``tiktoken.Encoding``, which encodes exactly as it does.

    Raises:
        NotExactError: The vocabulary is pruned, or cut by a regular expression.
        MissingExtraError: tiktoken is not installed.
    """
    try:
        import tiktoken
    except ImportError as error:
        raise MissingExtraError("tiktoken", "tiktoken", "An Encoding of tiktoken") from error
    vocabulary = tokenizer.vocabulary
    require_standard(vocabulary, "tiktoken")
    return tiktoken.Encoding(
        name,
        pat_str=equivalent_pattern(tokenizer.pretokenizer),
        mergeable_ranks={string: rank for rank, string in enumerate(vocabulary.strings)},
        special_tokens={text: int(token_id) for text, token_id in vocabulary.special_ids.items()},
        explicit_n_vocab=vocabulary.vocab_size,
    )
