"""Other ways to fill the same visible slots, on the same chunks: what pruning is compared with.

Trimming and Scaffold-BPE are a choice of hidden tokens in the Standard merge list, so that one
encoder and one algebra serve them and pruning alike. Picky BPE undoes merges and needs its own. In
plain Python they are in :mod:`prunedbpe.reference.baselines`.
"""

from prunedbpe.baselines.picky import PickyBPE, PickyEvents, learn_picky
from prunedbpe.baselines.scaffold import scaffold
from prunedbpe.baselines.selection import Selection, standard
from prunedbpe.baselines.trimming import trim

__all__ = [
    "PickyBPE",
    "PickyEvents",
    "Selection",
    "learn_picky",
    "scaffold",
    "standard",
    "trim",
]
