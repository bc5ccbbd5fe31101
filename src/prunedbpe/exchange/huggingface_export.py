"""Export to Hugging Face tokenizers: ``tokenizer.json``.

Exact for Standard BPE: a split by the pretokenizer's pattern, then byte-level BPE. Special tokens
become added tokens, which that library always finds in text, so its ``encode(text)`` equals
``tok.encode(text, allowed_special="all")``. Pruned vocabularies are refused. For those,
:func:`write_all_ranks` writes a stock model that emits *ranks*, and the table from ranks to ids.
"""

from __future__ import annotations

from pathlib import Path

from prunedbpe._support.atomic_files import write_json
from prunedbpe.exchange.byte_alphabet import to_byte_alphabet
from prunedbpe.exchange.equivalent_patterns import equivalent_pattern
from prunedbpe.exchange.exactness import require_own_ids, require_standard
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import Settings

ALL_RANKS_FILE = "all-ranks.json"
EXPANSIONS_FILE = "expansions.json"


def huggingface_settings(tokenizer: Tokenizer) -> Settings:
    """Return the contents of ``tokenizer.json``.

    Raises:
        NotExactError: The vocabulary is pruned or imported, or no pattern cuts as its pretokenizer.
    """
    require_standard(tokenizer, "Hugging Face tokenizers")
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


def write_huggingface(tokenizer: Tokenizer, path: str | Path) -> None:
    """Write a ``tokenizer.json``.

    Raises:
        NotExactError: The vocabulary is pruned or imported, or no pattern cuts as its pretokenizer.
    """
    settings = huggingface_settings(tokenizer)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, settings)


def all_ranks_settings(tokenizer: Tokenizer) -> tuple[Settings, Settings]:
    """Return a stock model whose ids are ranks, and the token ids that each rank expands to.

    Encode with the stock model, then replace every rank by its expansion: the result is the
    encoding of the pruned tokenizer. The model alone is *not* this tokenizer.

    Raises:
        NotExactError: The vocabulary is imported, or no pattern cuts as its pretokenizer.
    """
    require_own_ids(tokenizer)
    vocabulary = tokenizer.vocabulary
    expansions = [vocabulary.expansion(rank) for rank in range(len(vocabulary.strings))]
    return _rank_model(tokenizer), {
        "format": "prunedbpe expansions",
        "note": "the token ids of each rank that the model of all-ranks.json emits",
        "special_tokens": vocabulary.special_ids,
        "expansions": expansions,
    }


def write_all_ranks(tokenizer: Tokenizer, folder: str | Path) -> None:
    """Write ``all-ranks.json`` and ``expansions.json`` into a folder."""
    model, expansions = all_ranks_settings(tokenizer)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / EXPANSIONS_FILE, expansions)
    write_json(folder / ALL_RANKS_FILE, model)


def _rank_model(tokenizer: Tokenizer) -> Settings:
    """Byte-level BPE over all retained merges; ids are ranks."""
    vocabulary = tokenizer.vocabulary
    names = [to_byte_alphabet(string) for string in vocabulary.strings]
    split = {
        "type": "Split",
        "pattern": {"Regex": equivalent_pattern(tokenizer.pretokenizer)},
        "behavior": "Isolated",
        "invert": False,
    }
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": False,
        "use_regex": False,
    }
    steps = [byte_level] if tokenizer.pretokenizer.name == "none" else [split, byte_level]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
        "post_processor": None,
        "decoder": byte_level,
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
