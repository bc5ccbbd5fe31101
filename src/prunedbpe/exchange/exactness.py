"""The checks that an export to a stock library makes first: can that library be exact at all?"""

from __future__ import annotations

from prunedbpe.errors import NotExactError
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.vocabulary.foreign_vocabulary import ForeignVocabulary


def require_own_ids(tokenizer: Tokenizer) -> None:
    """Refuse an imported tokenizer, whose ids are not the ids that its merges imply.

    Raises:
        NotExactError: The tokenizer was imported.
    """
    if isinstance(tokenizer.vocabulary, ForeignVocabulary):
        raise NotExactError(
            "the tokenizer was imported: it keeps the ids and the Unicode version of its original, "
            "which this format cannot express",
            hint="use the original file, or the formats 'transformers' and 'decode-table'",
        )


def require_standard(tokenizer: Tokenizer, target: str) -> None:
    """Refuse a vocabulary with internal tokens, and an imported tokenizer.

    A stock merge model emits whatever its merges build. Let ``ab`` be internal and ``abc`` visible.
    A model with both merges emits ``ab`` as an id of its own if no ``c`` follows; a model without
    the first merge never builds ``abc``. Neither encodes as the pruned tokenizer does.

    Raises:
        NotExactError: Tokens are internal; the message names one, and the formats that are exact.
    """
    require_own_ids(tokenizer)
    vocabulary = tokenizer.vocabulary
    if not vocabulary.internal_count:
        return
    rank = int(vocabulary.visible.argmin())
    parents = vocabulary.parents(rank)
    example = f"{vocabulary.strings[rank]!r}"
    if parents:
        example += f", needed to build {vocabulary.strings[parents[0]]!r}"
    raise NotExactError(
        f"{vocabulary.internal_count} tokens are internal (the first: {example}), and {target} "
        "would emit them as ids of their own: it cannot encode as this tokenizer does",
        hint="exact formats: 'transformers' (a folder for AutoTokenizer), 'decode-table' (ids to "
        "bytes, for programs that only decode) and 'all-ranks' (a stock model over all ranks and "
        "the table that expands its ids); or train with threshold 0",
    )
