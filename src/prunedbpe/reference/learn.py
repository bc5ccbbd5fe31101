"""Byte-level BPE by the definition: documents -> chunk counts -> merges (section 1 of the method).

In: documents and a ``split`` function, or chunk counts: a dict from chunk to count whose order is
the order of first appearance. Out: merges, a list of pairs of ranks; merge ``i`` creates rank
``256 + i``.

Every step looks at the whole corpus again, so learning costs (merges x unique bytes). That is the
point: nothing is carried from one step to the next that could be carried wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from prunedbpe.types import BYTE_COUNT

Pair = tuple[int, int]
"""Two adjacent ranks."""

SegmentedCorpus = list[tuple[list[int], int]]
"""Each distinct chunk as the ranks it now consists of, with its count; chunks in corpus order."""


@dataclass(frozen=True)
class Learned:
    """The result of learning, one entry per merge.

    Attributes:
        merges: The pairs; merge ``i`` creates rank ``256 + i`` out of two lower ranks.
        frequencies: F, the frequency of the pair just before it was merged.
        applied: Number of replacements that the merge made; below F if occurrences overlap.
    """

    merges: list[Pair]
    frequencies: list[int]
    applied: list[int]


def count_chunks(
    documents: Iterable[str], split: Callable[[str], Iterable[str]]
) -> dict[bytes, int]:
    """Count the chunks of a corpus, in order of first appearance.

    >>> count_chunks(["the cat", "the hat"], str.split)
    {b'the': 2, b'cat': 1, b'hat': 1}
    """
    counts: dict[bytes, int] = {}
    for document in documents:
        for chunk in split(document):
            spelled = chunk.encode()
            counts[spelled] = counts.get(spelled, 0) + 1
    return counts


def pair_frequencies(corpus: SegmentedCorpus) -> dict[Pair, int]:
    """Count every adjacent position, overlapping ones too, weighted by the chunk count.

    The dict is in order of first occurrence: chunks in order, then positions.

    >>> pair_frequencies([(list(b"aaab"), 5)])  # a is 97, b is 98; "aaa" holds (a, a) twice
    {(97, 97): 10, (97, 98): 5}
    """
    frequencies: dict[Pair, int] = {}
    for ranks, count in corpus:
        for pair in pairwise(ranks):
            frequencies[pair] = frequencies.get(pair, 0) + count
    return frequencies


def replace_pair(ranks: list[int], pair: Pair, new_rank: int) -> list[int]:
    """Replace a pair from left to right, without overlap.

    >>> replace_pair([97, 97, 97], (97, 97), 256)
    [256, 97]
    """
    left, right = pair
    replaced: list[int] = []
    position = 0
    while position < len(ranks):
        if ranks[position] == left and ranks[position + 1 : position + 2] == [right]:
            replaced.append(new_rank)
            position += 2
        else:
            replaced.append(ranks[position])
            position += 1
    return replaced


def learn(counts: Mapping[bytes, int], merge_count: int, merges: Sequence[Pair] = ()) -> Learned:
    """Learn merges until there are ``merge_count``, or no pair occurs twice.

    Args:
        counts: Chunk counts in order of first appearance.
        merge_count: Total number of merges, the given ones included.
        merges: Merges to apply before choosing new ones; learning resumes after them.

    >>> learn({b"the": 2, b"that": 1}, 10).merges  # "th", then "the"; nothing else occurs twice
    [(116, 104), (256, 101)]
    >>> learn({b"the": 2, b"that": 1}, 10, merges=[(116, 104)]).frequencies
    [3, 2]
    """
    learned = Learned([], [], [])
    corpus = _as_bytes(counts)
    for step in range(max(merge_count, len(merges))):
        frequencies = pair_frequencies(corpus)
        if step < len(merges):
            pair = merges[step]
        elif not frequencies:
            break
        else:
            # max() returns the first of equals, and the dict is in order of first occurrence:
            # this line is the tie rule.
            pair = max(frequencies, key=lambda candidate: frequencies[candidate])
            if frequencies[pair] < 2:
                break
        corpus, applied = _apply_merge(corpus, pair, BYTE_COUNT + step)
        learned.merges.append(pair)
        learned.frequencies.append(frequencies.get(pair, 0))
        learned.applied.append(applied)
    return learned


def replay(merges: Sequence[Pair], counts: Mapping[bytes, int]) -> list[int]:
    """Apply known merges to any corpus and return the number of replacements of each.

    >>> replay([(116, 104), (256, 101)], {b"then": 1, b"thaw": 4})
    [5, 1]
    """
    corpus = _as_bytes(counts)
    all_applied = []
    for step, pair in enumerate(merges):
        corpus, applied = _apply_merge(corpus, pair, BYTE_COUNT + step)
        all_applied.append(applied)
    return all_applied


def segment(merges: Sequence[Pair], counts: Mapping[bytes, int]) -> SegmentedCorpus:
    """Return the corpus after all ``merges``.

    >>> segment([(116, 104), (256, 101)], {b"then": 1, b"thaw": 4})
    [([257, 110], 1), ([256, 97, 119], 4)]
    """
    corpus = _as_bytes(counts)
    for step, pair in enumerate(merges):
        corpus, _ = _apply_merge(corpus, pair, BYTE_COUNT + step)
    return corpus


def spell(merges: Sequence[Pair]) -> list[bytes]:
    """Return the bytes of every rank: the 256 single bytes, then one string per merge.

    >>> spell([(116, 104), (256, 101)])[256:]
    [b'th', b'the']
    """
    strings = [bytes([byte]) for byte in range(BYTE_COUNT)]
    for left, right in merges:
        strings.append(strings[left] + strings[right])
    return strings


def _as_bytes(counts: Mapping[bytes, int]) -> SegmentedCorpus:
    return [(list(chunk), count) for chunk, count in counts.items()]


def _apply_merge(corpus: SegmentedCorpus, pair: Pair, new_rank: int) -> tuple[SegmentedCorpus, int]:
    """Replace the pair in every chunk; count the replacements, weighted."""
    merged: SegmentedCorpus = []
    applied = 0
    for ranks, count in corpus:
        replaced = replace_pair(ranks, pair, new_rank)
        applied += (len(ranks) - len(replaced)) * count
        merged.append((replaced, count))
    return merged, applied
