"""A tokenizer as ``tokenizer.json`` of Hugging Face tokenizers.

Exact for Standard BPE: byte-level BPE behind a split by the pretokenizer's pattern. Special tokens
are added tokens, which that library always finds in text, so its ``encode(text)`` equals
``tok.encode(text, allowed_special="all")``. Refused for pruned vocabularies; for those there is
:func:`write_all_ranks`, a stock model that emits *ranks*, and the table that turns ranks into ids.
"""

from __future__ import annotations

from pathlib import Path

from prunedbpe._support.atomic_files import write_json
from prunedbpe.exchange.byte_alphabet import to_byte_alphabet
from prunedbpe.exchange.equivalent_patterns import equivalent_pattern
from prunedbpe.exchange.exactness import HasVocabulary, require_standard
from prunedbpe.types import Settings

ALL_RANKS_FILE = "all-ranks.json"
EXPANSIONS_FILE = "expansions.json"


def huggingface_settings(tokenizer: HasVocabulary) -> Settings:
    """What ``tokenizer.json`` holds.

    Raises:
        NotExactError: The vocabulary is pruned, or cut by a regular expression.
    """
    require_standard(tokenizer.vocabulary, "Hugging Face tokenizers")
    settings = _rank_model(tokenizer)
    settings["added_tokens"] = [
        {
            "id": token_id,
            "content": text,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for text, token_id in tokenizer.vocabulary.special_ids.items()
    ]
    return settings


def write_huggingface(tokenizer: HasVocabulary, path: str | Path) -> None:
    """Write a ``tokenizer.json``.

    Raises:
        NotExactError: The vocabulary is pruned, or cut by a regular expression.
    """
    settings = huggingface_settings(tokenizer)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, settings)


def all_ranks_settings(tokenizer: HasVocabulary) -> tuple[Settings, Settings]:
    """A stock model whose ids are ranks, and the token ids each rank expands into.

    Encode with the stock model, replace every rank by its expansion: that is the encoding of the
    pruned tokenizer, by other people's code. The model alone is *not* this tokenizer.
    """
    vocabulary = tokenizer.vocabulary
    expansions = [vocabulary.expansion(rank) for rank in range(len(vocabulary.strings))]
    return _rank_model(tokenizer), {
        "format": "prunedbpe expansions",
        "note": "token ids that stand for each rank the model of all-ranks.json emits",
        "special_tokens": vocabulary.special_ids,
        "expansions": expansions,
    }


def write_all_ranks(tokenizer: HasVocabulary, folder: str | Path) -> None:
    """Write ``all-ranks.json`` and ``expansions.json`` into a folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    model, expansions = all_ranks_settings(tokenizer)
    write_json(folder / EXPANSIONS_FILE, expansions)
    write_json(folder / ALL_RANKS_FILE, model)


def _rank_model(tokenizer: HasVocabulary) -> Settings:
    """Byte-level BPE over all retained merges; ids are ranks."""
    vocabulary = tokenizer.vocabulary
    names = [to_byte_alphabet(string) for string in vocabulary.strings]
    steps: list[Settings] = []
    if tokenizer.pretokenizer.name != "none":
        steps.append(
            {
                "type": "Split",
                "pattern": {"Regex": equivalent_pattern(tokenizer.pretokenizer)},
                "behavior": "Isolated",
                "invert": False,
            }
        )
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False}
    steps.append({**byte_level, "use_regex": False})
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
        "post_processor": None,
        "decoder": {**byte_level, "use_regex": False},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {name: rank for rank, name in enumerate(names)},
            "merges": [[names[left], names[right]] for left, right in vocabulary.pairs.tolist()],
        },
    }
