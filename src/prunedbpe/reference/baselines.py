"""Other ways to fill the same number of visible slots: ``docs/concepts/baselines.md``.

In: chunk counts in order of first appearance, and the number of visible learned tokens. Out: the
merges with the hidden ranks; for Picky BPE, the events to replay; for GreedTok, the tokens. Every
step looks at the whole corpus again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from prunedbpe.reference.learn import (
    Pair,
    SegmentedCorpus,
    learn,
    pair_frequencies,
    replace_pair,
    segment,
)
from prunedbpe.reference.visibility import exposure, flow
from prunedbpe.types import BYTE_COUNT

PickyEvent = tuple[str, tuple[int, ...], int]
"""``("merge", (left, right), token)`` or ``("split", parts, token)``."""


def trim(counts: Mapping[bytes, int], required: int, extra: int) -> tuple[list[Pair], set[int]]:
    """Trimming: learn ``extra`` additional merges, then hide the rarest tokens one by one.

    Each step counts tokens in the corpus as encoded so far: the occurrences of a hidden token have
    become occurrences of its parts. The newest of equally rare tokens is hidden first.

    Returns:
        The merges, and the ranks of the hidden tokens.

    >>> merges, hidden = trim({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}, required=3, extra=1)
    >>> merges[-1], hidden  # "cat" is learned beyond the three, "th" is the rarest of the four
    ((99, 256), {257})
    """
    merges = learn(counts, required + extra).merges
    corpus = segment(merges, counts)
    hidden: set[int] = set()
    while len(merges) - len(hidden) > required:
        flows = flow(corpus, merges, hidden)
        shown = [r for r in range(BYTE_COUNT, BYTE_COUNT + len(merges)) if r not in hidden]
        hidden.add(min(shown, key=lambda rank: (flows[rank], -rank)))
    return merges, hidden


def scaffold(counts: Mapping[bytes, int], required: int) -> tuple[list[Pair], set[int]]:
    """Scaffold-BPE: decide during training which tokens are only scaffolds for others.

    A queue holds the pairs that occur at least twice, by frequency, and the scaffolds, by count.
    Each step takes the best entry; a pair wins a tie. A pair is merged into a visible token; then
    each visible part, except bytes, whose remaining count is below the best entry of the queue
    becomes a scaffold. A scaffold that is the best entry becomes visible again. Scaffolds stay in
    the corpus.

    Returns:
        The merges, and the ranks that are scaffolds when ``required`` tokens are visible.

    >>> merges, hidden = scaffold({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}, required=3)
    >>> merges, hidden  # after "the", "th" occurs once, below the 2 of (c, at), which comes next
    ([(97, 116), (116, 104), (257, 101), (99, 256)], {257})
    """
    merges: list[Pair] = []
    scaffolds: set[int] = set()
    while len(merges) - len(scaffolds) < required:
        corpus = segment(merges, counts)
        frequencies = pair_frequencies(corpus)
        exposures = exposure(corpus, len(merges))
        pair = max(frequencies, key=lambda p: frequencies[p], default=None)
        frequency = frequencies[pair] if pair is not None and frequencies[pair] >= 2 else 0
        # max() returns the first, that is the oldest, of tied scaffolds.
        rank = max(sorted(scaffolds), key=lambda r: exposures[r], default=None)
        if rank is not None and exposures[rank] >= 2 and exposures[rank] > frequency:
            scaffolds.remove(rank)
            continue
        if not frequency or pair is None:
            break
        merges.append(pair)
        corpus = segment(merges, counts)
        exposures = exposure(corpus, len(merges))
        for part in dict.fromkeys(pair):
            pairs = [f for f in pair_frequencies(corpus).values() if f >= 2]
            best = max([*pairs, *(exposures[r] for r in scaffolds)], default=0)
            if part >= BYTE_COUNT and part not in scaffolds and exposures[part] < best:
                scaffolds.add(part)
    return merges, scaffolds


@dataclass(frozen=True)
class PickyLearned:
    """The result of Picky BPE.

    Attributes:
        events: Merges and splits, in order.
        present: The learned tokens in the vocabulary at the end.
        strings: The bytes of every token, removed ones included.
        corpus: The corpus at the end.
    """

    events: list[PickyEvent]
    present: set[int]
    strings: list[bytes]
    corpus: SegmentedCorpus


def picky(
    counts: Mapping[bytes, int], required: int, threshold: float | str | Fraction
) -> PickyLearned:
    """Picky BPE: after each merge, remove a part that the merge has mostly used up.

    With m replacements and f remaining occurrences of the part, the part is removed if
    m / (f + m) >= threshold; the left part is checked first. Its remaining occurrences split into
    the pair that first made it, and further where a part has itself been removed. The same string
    is the same token: merging it again restores it.

    >>> learned = picky({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}, 3, 0.6)
    >>> learned.events[2:]  # "the" used 2 of 3 "th", "cat" 2 of 4 "at"
    [('merge', (257, 101), 258), ('split', (116, 104), 257), ('merge', (99, 256), 259)]
    >>> sorted(learned.present), learned.corpus[3]
    ([256, 258, 259], ([116, 104, 256], 1))
    """
    least = Fraction(str(threshold))
    strings = [bytes([byte]) for byte in range(BYTE_COUNT)]
    made_of: dict[int, Pair] = {}
    present: set[int] = set()
    events: list[PickyEvent] = []
    corpus: SegmentedCorpus = [(list(chunk), count) for chunk, count in counts.items()]

    def walk(token: int) -> tuple[int, ...]:
        if token < BYTE_COUNT or token in present:
            return (token,)
        left, right = made_of[token]
        return walk(left) + walk(right)

    while len(present) < required:
        frequencies = pair_frequencies(corpus)
        pair = max(frequencies, key=lambda p: frequencies[p], default=None)
        if pair is None or frequencies[pair] < 2:
            break
        string = strings[pair[0]] + strings[pair[1]]
        if string not in strings:
            strings.append(string)
            made_of[len(strings) - 1] = pair
        token = strings.index(string)
        present.add(token)
        events.append(("merge", pair, token))
        before = _token_total(corpus)
        corpus = [(replace_pair(ranks, pair, token), count) for ranks, count in corpus]
        merged = before - _token_total(corpus)
        for part in dict.fromkeys(pair):
            left_over = sum(ranks.count(part) * count for ranks, count in corpus)
            if part < BYTE_COUNT or Fraction(merged, left_over + merged) < least:
                continue
            present.discard(part)
            parts = walk(part)
            events.append(("split", parts, part))
            corpus = [(split_token(ranks, part, parts), count) for ranks, count in corpus]
    return PickyLearned(events, present, strings, corpus)


def split_token(ranks: Sequence[int], token: int, parts: Sequence[int]) -> list[int]:
    """Replace every ``token`` by ``parts``.

    >>> split_token([257, 256, 257], 257, (116, 104))
    [116, 104, 256, 116, 104]
    """
    split: list[int] = []
    for rank in ranks:
        split.extend(parts if rank == token else [rank])
    return split


def encode_picky(chunk: bytes, events: Sequence[PickyEvent]) -> list[int]:
    """Replay merges and splits in order.

    >>> encode_picky(b"that", [("merge", (116, 104), 256), ("split", (116, 104), 256)])
    [116, 104, 97, 116]
    """
    ranks = list(chunk)
    for kind, parts, token in events:
        if kind == "merge":
            ranks = replace_pair(ranks, (parts[0], parts[1]), token)
        else:
            ranks = split_token(ranks, token, parts)
    return ranks


def greedtok(
    counts: Mapping[bytes, int], required: int, least_frequency: int = 1
) -> tuple[list[bytes], list[int]]:
    """GreedTok: take the string that joins the most neighbouring bytes, again and again.

    A candidate is a string of 2 to 254 bytes inside chunks. Covering a place joins all its bytes to
    one token, with the tokens that were there. A place is not covered if a token crosses one of
    its ends. Of tied candidates the shortest is taken, then the one that occurs first.

    Returns:
        The tokens in order of choice, and how many tokens each makes the corpus shorter.

    >>> greedtok({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}, required=3)
    ([b'at', b'the', b'cat'], [4, 4, 2])
    """
    frequencies: Counter[bytes] = Counter()
    for chunk, count in counts.items():
        for start in range(len(chunk)):
            for end in range(start + 2, min(len(chunk), start + 254) + 1):
                frequencies[chunk[start:end]] += count
    # A Counter keeps the order of insertion, and max() takes the first of tied candidates.
    allowed = [token for token in frequencies if frequencies[token] >= least_frequency]
    candidates = sorted(allowed, key=len)
    joined = {chunk: [False] * (len(chunk) + 1) for chunk in counts}
    tokens: list[bytes] = []
    scores: list[int] = []
    while len(tokens) < required:
        values = {token: _cover_all(token, counts, joined, keep=False) for token in candidates}
        best = max(candidates, key=values.__getitem__, default=b"")
        if not values.get(best):
            break
        tokens.append(best)
        scores.append(_cover_all(best, counts, joined, keep=True))
    return tokens, scores


def greedtok_scores(tokens: Sequence[bytes], counts: Mapping[bytes, int]) -> list[int]:
    """Cover a corpus with tokens in order, and return how much shorter each one makes it.

    >>> greedtok_scores([b"at", b"the"], {b"theater": 1, b"that": 2})
    [3, 2]
    """
    joined = {chunk: [False] * (len(chunk) + 1) for chunk in counts}
    return [_cover_all(token, counts, joined, keep=True) for token in tokens]


def _cover_all(
    token: bytes, counts: Mapping[bytes, int], joined: dict[bytes, list[bool]], *, keep: bool
) -> int:
    """Count the new joins of covering a corpus with a token; join them if ``keep``."""
    total = 0
    for chunk, count in counts.items():
        state = joined[chunk] if keep else list(joined[chunk])
        total += cover(chunk, token, state) * count
    return total


def cover(chunk: bytes, token: bytes, joined: list[bool]) -> int:
    """Cover a chunk with a token from left to right, and return the number of new joins.

    Args:
        chunk: The chunk.
        token: A string.
        joined: Entry ``i`` tells whether a token holds both byte ``i - 1`` and byte ``i``; changed.

    >>> joined = [False, False, True, True, False, False]  # a[ban]a
    >>> cover(b"abana", b"ana", joined), cover(b"abana", b"bana", joined)
    (0, 1)
    """
    joins = 0
    for start in range(len(chunk) - len(token) + 1):
        end = start + len(token)
        if chunk[start:end] == token and not joined[start] and not joined[end]:
            joins += joined[start + 1 : end].count(False)
            joined[start + 1 : end] = [True] * (len(token) - 1)
    return joins


def _token_total(corpus: SegmentedCorpus) -> int:
    return sum(len(ranks) * count for ranks, count in corpus)
