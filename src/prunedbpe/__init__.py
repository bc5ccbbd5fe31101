"""Byte-level BPE tokenizers whose every vocabulary slot goes to a token that text really uses.

>>> import prunedbpe
>>> tok = prunedbpe.train(["the cat in the hat", "that hat"], vocab_size=262, threshold=0)
>>> tok.decode(tok.encode("the hat"))
'the hat'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prunedbpe.analysis.auditing import audit
    from prunedbpe.analysis.retargeting import id_map, retarget
    from prunedbpe.analysis.retargeting_models import retarget_checkpoint, retarget_model
    from prunedbpe.analysis.sweeping import sweep
    from prunedbpe.corpus import Corpus, CorpusReport, Shard
    from prunedbpe.counts import (
        ChunkCounts,
        SourceCounts,
        count,
        count_by_source,
        count_to_file,
        reduce_counts,
    )
    from prunedbpe.errors import PrunedBPEError
    from prunedbpe.exchange.importing import import_tokenizer
    from prunedbpe.integrations.accelerating import accelerate
    from prunedbpe.merges import Applied, Learner, MergeTable, learn, replay
    from prunedbpe.pretokenizers import Pretokenizer, pretokenize
    from prunedbpe.tokenizer import TiktokenEncoding, Tokenizer
    from prunedbpe.training import prune, train
    from prunedbpe.types import Rank, TokenId, Visibility
    from prunedbpe.visibility.policy import VisibilityPolicy
    from prunedbpe.vocabulary import Vocabulary

    __version__: str

# Loaded when first asked for (PEP 562), so that `import prunedbpe` and `--help` stay quick.
_HOMES = {
    "analysis.auditing": ("audit",),
    "analysis.retargeting": ("id_map", "retarget"),
    "analysis.retargeting_models": ("retarget_checkpoint", "retarget_model"),
    "analysis.sweeping": ("sweep",),
    "corpus": ("Corpus", "CorpusReport", "Shard"),
    "counts": (
        "ChunkCounts",
        "SourceCounts",
        "count",
        "count_by_source",
        "count_to_file",
        "reduce_counts",
    ),
    "errors": ("PrunedBPEError",),
    "exchange.importing": ("import_tokenizer",),
    "integrations.accelerating": ("accelerate",),
    "merges": ("Applied", "Learner", "MergeTable", "learn", "replay"),
    "pretokenizers": ("Pretokenizer", "pretokenize"),
    "tokenizer": ("TiktokenEncoding", "Tokenizer"),
    "training": ("prune", "train"),
    "types": ("Rank", "TokenId", "Visibility"),
    "visibility.policy": ("VisibilityPolicy",),
    "vocabulary": ("Vocabulary",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

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
    "VisibilityPolicy",
    "Vocabulary",
    "accelerate",
    "audit",
    "count",
    "count_by_source",
    "count_to_file",
    "id_map",
    "import_tokenizer",
    "learn",
    "pretokenize",
    "prune",
    "reduce_counts",
    "replay",
    "retarget",
    "retarget_checkpoint",
    "retarget_model",
    "sweep",
    "train",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":  # the one place for it is pyproject.toml
        return importlib.import_module("importlib.metadata").version("prunedbpe")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'prunedbpe' has no attribute {name!r}")
    return getattr(importlib.import_module(f"prunedbpe.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
