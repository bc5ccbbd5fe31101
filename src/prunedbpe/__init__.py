"""Byte-level BPE tokenizers whose every vocabulary slot goes to a token that text really uses.

>>> import prunedbpe
>>> tok = prunedbpe.train(["the cat in the hat", "that hat"], vocab_size=262, threshold=0)
>>> tok.decode(tok.encode("the hat"))
'the hat'
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from prunedbpe.integrations.registration import register_with_transformers

if TYPE_CHECKING:
    from prunedbpe.corpus import Corpus, CorpusReport, Shard
    from prunedbpe.count import ChunkCounts, SourceCounts, count, count_by_source, reduce_counts
    from prunedbpe.errors import PrunedBPEError
    from prunedbpe.facade import TiktokenEncoding
    from prunedbpe.imports import import_tokenizer
    from prunedbpe.learn import Applied, Learner, MergeTable, learn, replay
    from prunedbpe.pretokenize import Pretokenizer, pretokenize
    from prunedbpe.pruning import prune
    from prunedbpe.retargeting import id_map, retarget
    from prunedbpe.sweeping import sweep
    from prunedbpe.tokenizer import Tokenizer
    from prunedbpe.train import train
    from prunedbpe.types import Rank, TokenId, Visibility
    from prunedbpe.vocabulary import Vocabulary

__version__ = "0.1.0"

__all__ = [
    "Applied",
    "ChunkCounts",
    "Corpus",
    "CorpusReport",
    "Learner",
    "MergeTable",
    "Pretokenizer",
    "PrunedBPEError",
    "Rank",
    "Shard",
    "SourceCounts",
    "TiktokenEncoding",
    "TokenId",
    "Tokenizer",
    "Visibility",
    "Vocabulary",
    "count",
    "count_by_source",
    "id_map",
    "import_tokenizer",
    "learn",
    "pretokenize",
    "prune",
    "reduce_counts",
    "replay",
    "retarget",
    "sweep",
    "train",
]

# Loaded when first asked for, so that `prunedbpe --help` imports neither numpy nor native code.
_HOMES = {
    "corpus": ("Corpus", "CorpusReport", "Shard"),
    "count": ("ChunkCounts", "SourceCounts", "count", "count_by_source", "reduce_counts"),
    "errors": ("PrunedBPEError",),
    "facade": ("TiktokenEncoding",),
    "imports": ("import_tokenizer",),
    "learn": ("Applied", "Learner", "MergeTable", "learn", "replay"),
    "pretokenize": ("Pretokenizer", "pretokenize"),
    "pruning": ("prune",),
    "retargeting": ("id_map", "retarget"),
    "sweeping": ("sweep",),
    "tokenizer": ("Tokenizer",),
    "train": ("train",),
    "types": ("Rank", "TokenId", "Visibility"),
    "vocabulary": ("Vocabulary",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


class _Package(ModuleType):
    """The package itself: a function goes before the module of the same name it lives in."""

    def __setattr__(self, name: str, value: Any) -> None:
        # The import system stores every submodule here; `prunedbpe.count` stays the function.
        if not (name in _HOME_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'prunedbpe' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"prunedbpe.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_with_transformers()
