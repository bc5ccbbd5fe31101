"""Byte-level BPE tokenizers whose every vocabulary slot goes to a token that text really uses.

>>> import prunedbpe
>>> tok = prunedbpe.train(["the cat in the hat", "that hat"], vocab_size=262, threshold=0)
>>> tok.decode(tok.encode("the hat"))
'the hat'
"""

from prunedbpe.corpus import Corpus, CorpusReport, Shard
from prunedbpe.count import ChunkCounts, SourceCounts, count, count_by_source, reduce_counts
from prunedbpe.errors import PrunedBPEError
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
    "TokenId",
    "Tokenizer",
    "Visibility",
    "Vocabulary",
    "count",
    "count_by_source",
    "id_map",
    "learn",
    "pretokenize",
    "prune",
    "reduce_counts",
    "replay",
    "retarget",
    "sweep",
    "train",
]
