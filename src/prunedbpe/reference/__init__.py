"""The whole method in plain Python: slow and obvious, the oracle for every faster path.

Read it in this order: `learn` (documents to merges), `visibility` (which tokens a model sees),
`encode` (text to token ids). Nothing here uses the native core. A tour with three documents, small
enough to work through with a pencil:

>>> documents = ["the cat", "the hat", "that cat"]
>>> counts = count_chunks(documents, str.split)
>>> counts
{b'the': 2, b'cat': 2, b'hat': 1, b'that': 1}

**Standard BPE.** (a, t) occurs 4 times, in "cat" twice, in "hat" and in "that". Then (t, h) occurs
3 times. Then (th, e) and (c, at) both occur twice; "the" comes first in the corpus, so it wins:

>>> standard = learn(counts, 3)
>>> spell(standard.merges)[256:], standard.frequencies
([b'at', b'th', b'the'], [4, 3, 2])

**Exposure.** "th" was learned for 3 occurrences, but "the" took two of them. In the merged corpus
it remains once, in "that":

>>> corpus = segment(standard.merges, counts)
>>> corpus  # the | c at | h at | th at
[([258], 2), ([99, 256], 2), ([104, 256], 1), ([257, 256], 1)]
>>> exposure(corpus, 3)[256:]
[4, 1, 2]

**Pruning.** With three slots for learned tokens and a threshold of 100 % of F("the") = 2, only two
tokens qualify. Learning continues, finds "cat", and stops because no other pair occurs twice. Now
"at", "the" and "cat" have exposure 2 or more and fill the slots. "th" becomes internal; its merge
is still needed to build "the":

>>> vocabulary = train(counts, vocab_size=260, threshold="100%", special_tokens=["<eos>"])
>>> vocabulary.min_exposure, vocabulary.visible, vocabulary.internal
(2, [256, 258, 259], [257])

Ranks keep the order of training, token ids close the gap: "at" 256, "the" 257, "cat" 258, then
``<eos>`` 259, and the internal "th" after all tokens that a model sees:

>>> [vocabulary.token_ids[rank] for rank in (256, 257, 258, 259)], vocabulary.special_ids
([256, 260, 257, 258], {'<eos>': 259})

**Encoding.** Merges apply by rank, internal ones included; an internal token that remains expands
into its children:

>>> encode("the that", vocabulary, str.split)  # the | t h at
[257, 116, 104, 256]
>>> decode([257, 116, 104, 256], vocabulary)
'thethat'

The same number of slots now gives a shorter corpus: 10 tokens with Standard BPE, 9 after pruning:

>>> encoded_length(corpus, standard.merges, hidden=set())
10
>>> encoded_length(segment(vocabulary.merges, counts), vocabulary.merges, hidden={257})
9
"""

from prunedbpe.reference.encode import (
    decode,
    decode_bytes,
    encode,
    encode_chunk,
    expand,
    shortest,
)
from prunedbpe.reference.learn import (
    Learned,
    Pair,
    SegmentedCorpus,
    count_chunks,
    learn,
    pair_frequencies,
    replace_pair,
    replay,
    segment,
    spell,
)
from prunedbpe.reference.visibility import (
    PrunedVocabulary,
    encoded_length,
    exposure,
    flow,
    hide_cheapest,
    prune,
    reallocate,
    reallocation_batch,
    threshold_count,
    train,
)

__all__ = [
    "Learned",
    "Pair",
    "PrunedVocabulary",
    "SegmentedCorpus",
    "count_chunks",
    "decode",
    "decode_bytes",
    "encode",
    "encode_chunk",
    "encoded_length",
    "expand",
    "exposure",
    "flow",
    "hide_cheapest",
    "learn",
    "pair_frequencies",
    "prune",
    "reallocate",
    "reallocation_batch",
    "replace_pair",
    "replay",
    "segment",
    "shortest",
    "spell",
    "threshold_count",
    "train",
]
