"""Export to Hugging Face tokenizers: ``tokenizer.json``.

Exact for every tokenizer with segmentation ``shortest``, as a Unigram model
(:mod:`~prunedbpe.exchange.unigram_model`), and for Standard BPE by rank, as a BPE model. The
pretokenizer becomes a split by its pattern. Special tokens become added tokens, which that library
always finds in text, so its ``encode(text)`` equals ``tok.encode(text, allowed_special="all")``.

Vocabularies with internal tokens that are merged by rank are refused. For those,
:func:`write_all_ranks` writes a stock model that emits *ranks*, and the table from ranks to ids.
"""

from __future__ import annotations

from pathlib import Path

from prunedbpe._support.arguments import to_path
from prunedbpe._support.atomic_files import json_bytes, write_json, write_together
from prunedbpe.errors import NotExactError
from prunedbpe.exchange.byte_alphabet import to_byte_alphabet
from prunedbpe.exchange.equivalent_patterns import equivalent_pattern
from prunedbpe.exchange.exactness import (
    require_distinct_specials,
    require_own_ids,
    require_rank,
    require_standard,
)
from prunedbpe.exchange.special_roles import usual_roles
from prunedbpe.exchange.unigram_model import unigram_model
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.pretokenizers.patterns import O200K_PATTERN
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import Settings
from prunedbpe.vocabulary import Vocabulary

TOKENIZER_FILE = "tokenizer.json"
CONFIG_FILE = "tokenizer_config.json"
ALL_RANKS_FILE = "all-ranks.json"
EXPANSIONS_FILE = "expansions.json"

_BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": False,
    "use_regex": False,
}


def huggingface_settings(tokenizer: Tokenizer, *, library_classes: bool = False) -> Settings:
    """Return the contents of ``tokenizer.json``.

    Args:
        tokenizer: A tokenizer with segmentation ``shortest``, or Standard BPE.
        library_classes: Cut by the character classes of the library that reads the file, not by
            ours; for the pretokenizers ``gpt2`` and ``o200k``. Release candidates of tokenizers 1.0
            need it. The file is then exact except for characters that were assigned or changed
            after the library's Unicode version.

    Raises:
        NotExactError: The vocabulary has internal tokens and is merged by rank, or is imported, or
            no pattern cuts as its pretokenizer.
    """
    vocabulary = tokenizer.vocabulary
    if tokenizer.segmentation == "shortest":
        require_own_ids(tokenizer)
        model = unigram_model(vocabulary.bytes_by_id[: vocabulary.visible_count])
    else:
        require_standard(tokenizer, "Hugging Face tokenizers")
        model = _rank_model(vocabulary)
    require_distinct_specials(tokenizer)
    settings = _settings(tokenizer.pretokenizer, model, library_classes=library_classes)
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
        for text, token_id in vocabulary.special_ids.items()
    ]
    return settings


def write_huggingface(
    tokenizer: Tokenizer, path: str | Path, *, library_classes: bool = False
) -> None:
    """Write a ``tokenizer.json``; the arguments are those of :func:`huggingface_settings`.

    Raises:
        NotExactError: The library cannot encode as the tokenizer does.
    """
    settings = huggingface_settings(tokenizer, library_classes=library_classes)
    path = to_path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, settings)


def write_huggingface_folder(
    tokenizer: Tokenizer, folder: str | Path, *, library_classes: bool = False
) -> None:
    """Write ``tokenizer.json`` and ``tokenizer_config.json``, for ``AutoTokenizer``.

    Raises:
        NotExactError: The library cannot encode as the tokenizer does.
    """
    settings = huggingface_settings(tokenizer, library_classes=library_classes)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        **usual_roles(tokenizer.special_tokens),
    }
    contents = {TOKENIZER_FILE: json_bytes(settings), CONFIG_FILE: json_bytes(config)}
    write_together(to_path(folder), contents)


def all_ranks_settings(tokenizer: Tokenizer) -> tuple[Settings, Settings]:
    """Return a stock model whose ids are ranks, and the token ids that each rank expands to.

    Encode with the stock model, then replace every rank by its expansion: the result is the
    encoding of the pruned tokenizer. The model alone is *not* this tokenizer.

    Raises:
        NotExactError: The vocabulary is imported or not merged by rank, or no pattern cuts as its
            pretokenizer.
    """
    require_rank(tokenizer, "a model over all ranks")
    vocabulary = tokenizer.vocabulary
    expansions = [vocabulary.expansion(rank) for rank in range(len(vocabulary.strings))]
    return _settings(tokenizer.pretokenizer, _rank_model(vocabulary)), {
        "format": "prunedbpe expansions",
        "note": "the token ids of each rank that the model of all-ranks.json emits",
        "special_tokens": vocabulary.special_ids,
        "expansions": expansions,
    }


def write_all_ranks(tokenizer: Tokenizer, folder: str | Path) -> None:
    """Write ``all-ranks.json`` and ``expansions.json`` into a folder."""
    model, expansions = all_ranks_settings(tokenizer)
    contents = {EXPANSIONS_FILE: json_bytes(expansions), ALL_RANKS_FILE: json_bytes(model)}
    write_together(to_path(folder), contents)


def _rank_model(vocabulary: Vocabulary) -> Settings:
    """Byte-level BPE over all retained merges; ids are ranks."""
    names = [to_byte_alphabet(string) for string in vocabulary.strings]
    return {
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
    }


def _settings(
    pretokenizer: Pretokenizer, model: Settings, *, library_classes: bool = False
) -> Settings:
    """Return a ``tokenizer.json`` without special tokens."""
    normalizer = None
    steps = _steps(pretokenizer, library_classes=library_classes)
    if pretokenizer.name == "none" and model["type"] == "Unigram":
        # Release candidates of tokenizers 1.0 refuse a byte-level pretokenizer in front of a
        # Unigram model, and accept the normalizer. Without a split the two are the same.
        normalizer, steps = {"type": "ByteLevel"}, []
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps} if steps else None,
        "post_processor": None,
        "decoder": _BYTE_LEVEL,
        "model": model,
    }


def _steps(pretokenizer: Pretokenizer, *, library_classes: bool) -> list[Settings]:
    """Return the steps of the library that cut text into chunks and spell them as bytes."""
    pattern = equivalent_pattern(pretokenizer)
    if pretokenizer.name == "none":
        return [_BYTE_LEVEL]
    if library_classes:
        if pretokenizer.name == "gpt2":
            return [{**_BYTE_LEVEL, "use_regex": True}]
        if pretokenizer.name != "o200k":
            raise NotExactError(
                f"Hugging Face tokenizers have no classes of their own for {pretokenizer.name!r}",
                hint="export without library_classes, or train with 'gpt2', 'o200k' or 'none'",
            )
        pattern = O200K_PATTERN
    split = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    return [split, _BYTE_LEVEL]
