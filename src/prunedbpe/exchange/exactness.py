"""The checks that an export to a stock library makes first: can that library be exact at all?"""

from __future__ import annotations

from prunedbpe.errors import NotExactError
from prunedbpe.exchange.byte_alphabet import to_byte_alphabet
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


def require_rank(tokenizer: Tokenizer, target: str) -> None:
    """Refuse an imported tokenizer, and one that does not merge by rank.

    Raises:
        NotExactError: The tokenizer was imported, or its segmentation is ``shortest``.
    """
    require_own_ids(tokenizer)
    if tokenizer.segmentation != "rank":
        raise NotExactError(
            f"the tokenizer cuts chunks into the fewest tokens, and {target} merges by rank",
            hint="exact formats: 'huggingface' (a stock tokenizer.json), 'transformers' (a folder "
            "for AutoTokenizer) and 'decode-table' (ids to bytes, for programs that only decode)",
        )


def require_standard(tokenizer: Tokenizer, target: str) -> None:
    """Refuse a vocabulary with internal tokens, and what :func:`require_rank` refuses.

    A stock merge model emits whatever its merges build. Let ``ab`` be internal and ``abc`` visible.
    A model with both merges emits ``ab`` as an id of its own if no ``c`` follows; a model without
    the first merge never builds ``abc``. Neither encodes as the pruned tokenizer does.

    Raises:
        NotExactError: Tokens are internal; the message names one, and the formats that are exact.
    """
    require_rank(tokenizer, target)
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
        hint="for a stock tokenizer.json, train or prune again with segmentation 'shortest' (other "
        "ids: do it before you train the model) or with threshold 0; for this tokenizer, exact "
        "formats are 'transformers' (a folder for AutoTokenizer), 'decode-table' (ids to bytes, "
        "for programs that only decode) and 'all-ranks' (a stock model over all ranks and the "
        "table that expands its ids)",
    )


def require_distinct_specials(tokenizer: Tokenizer) -> None:
    """Refuse a special token whose text is also the name of a visible token.

    Hugging Face tokenizers look up an added token by its text, so it would get the id of the other.

    Raises:
        NotExactError: Two tokens would have one name.
    """
    vocabulary = tokenizer.vocabulary
    names = set(map(to_byte_alphabet, vocabulary.bytes_by_id[: vocabulary.visible_count]))
    for text in vocabulary.special_tokens:
        if text in names:
            raise NotExactError(
                f"the special token {text!r} has the name of an ordinary token: Hugging Face "
                "tokenizers would give both the same id",
                hint="train with another special token, or use the format 'transformers'",
            )
