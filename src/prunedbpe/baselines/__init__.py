"""Baselines for pruning: other ways to fill the same visible slots, on the same chunks.

Trimming and Scaffold-BPE choose hidden tokens in the Standard merge list, so they share the encoder
and the algebra of pruning. Picky BPE undoes merges, GreedTok and Unigram have none, so they have
encoders of their own. The plain-Python versions are in :mod:`prunedbpe.reference.baselines`.
"""

from prunedbpe.baselines.greedtok import GreedTok, learn_greedtok
from prunedbpe.baselines.picky import PickyBPE, PickyEvents, learn_picky
from prunedbpe.baselines.scaffold import scaffold
from prunedbpe.baselines.selection import Selection, standard
from prunedbpe.baselines.trimming import trim
from prunedbpe.baselines.unigram import Unigram, learn_unigram

__all__ = [
    "GreedTok",
    "PickyBPE",
    "PickyEvents",
    "Selection",
    "Unigram",
    "learn_greedtok",
    "learn_picky",
    "learn_unigram",
    "scaffold",
    "standard",
    "trim",
]
