"""What the names in tables and summaries mean, each in one sentence.

The names are those of the documentation (``docs/concepts``).
"""

from __future__ import annotations

GLOSSARY = {
    "boundary frequency": "occurrences of the last pair that Standard BPE merges",
    "min exposure": "occurrences in the encoded corpus that make a token visible",
    "least exposure": "occurrences of the rarest visible learned token",
    "exposure": "occurrences in the encoded corpus, before hidden tokens are expanded",
    "internal tokens": "help to build other tokens; a model never sees them",
    "internal": "tokens that help to build others; a model never sees them",
    "internal share": "internal tokens, of all learned tokens that the tokenizer keeps",
    "encoded length": "tokens of the corpus",
    "chosen from": "merges among which auto chose, of those learned",
    "leads to": "visible tokens that are built from this one",
    "supports": "longer tokens built from this one",
    "fewest tokens": "what the shortest segmentation with the same vocabulary needs",
    "mostly merged on": "over 90 % of their occurrences became parts of longer tokens",
    "slots reallocated by": "how the tokens to keep and to add are chosen",
    "saves": "share of tokens saved against the first tokenizer",
    "reduction": "share of tokens saved against Standard BPE of the same size",
    "+2K Standard": "what 2,000 more tokens of Standard BPE would save",
    "95 % interval": "of that share, by a bootstrap over documents",
    "fertility": "tokens per word, in scripts written with spaces",
    "unused": "visible learned tokens that never occur",
    "<100": "visible learned tokens that occur fewer than 100 times",
    "gini": "how unevenly tokens are used: 0 all alike, 1 only one",
    "rényi": "Rényi efficiency of order 2.5: 1 if all tokens are used alike",
    "gap": "share of tokens that the shortest segmentation would save",
    "unique chunks": "different pieces of text that merges never cross",
    "min chunk count": "chunks that occur less often were dropped before learning",
}
