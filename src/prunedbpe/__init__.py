"""Byte-level BPE tokenizers whose every vocabulary slot goes to a token that text really uses.

>>> import prunedbpe
>>> tok = prunedbpe.train(["the cat in the hat", "that hat"], vocab_size=262, threshold=0)
>>> tok.decode(tok.encode("the hat"))
'the hat'
"""

from prunedbpe.corpus import Corpus, CorpusReport, Shard
from prunedbpe.count import ChunkCounts, count, reduce_counts
from prunedbpe.errors import PrunedBPEError
from prunedbpe.learn import Applied, Learner, MergeTable, learn, replay
from prunedbpe.pretokenize import Pretokenizer, pretokenize
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.train import prune, train
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
    "TokenId",
    "Tokenizer",
    "Visibility",
    "Vocabulary",
    "count",
    "learn",
    "pretokenize",
    "prune",
    "reduce_counts",
    "replay",
    "train",
]
