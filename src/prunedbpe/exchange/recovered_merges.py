"""Recover the one merge that produces each token of another library's vocabulary.

The merges of another library may produce a token in several ways (lists converted from rank files
name every split), name unreachable tokens, or be missing altogether (rank files). But if a text
produces a token, no earlier merge crossed the token's span, so the merges inside the span are those
of encoding the token's bytes alone. Encoding every token alone therefore finds the only merge that
can produce it, and the tokens that no merge produces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise, repeat

import numpy as np

from prunedbpe._support.json_values import shown
from prunedbpe.errors import NotExactError
from prunedbpe.exchange.late_merges import Merge, placed_merges
from prunedbpe.pretokenizers.foreign_cut import ForeignCut
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.types import BYTE_COUNT, Settings, UInt32Array
from prunedbpe.vocabulary.foreign_vocabulary import ForeignVocabulary

Priority = Callable[[tuple[bytes, bytes], int], int]
"""The priority of merging two neighbours (lower is earlier); the second argument if they never do.
``dict.get`` is one, so encoding a token takes few steps in Python."""

_NEVER = 1 << 62
_SHORT = 40
"""Up to this many bytes, looking for the first merge costs less than a heap."""


@dataclass(frozen=True)
class FoundMerges:
    """The recovered merges in order, and the tokens without one.

    Attributes:
        pairs: Left and right rank of each merge.
        strings: The bytes of every rank.
        unmergeable: Tokens of the vocabulary that no merge produces.
    """

    pairs: UInt32Array
    strings: list[bytes]
    unmergeable: list[bytes]


def merges_of_list(
    tokens: Iterable[bytes],
    merges: list[tuple[bytes, bytes]],
    name_place: Callable[[int], str] = "merge {}".format,
) -> FoundMerges:
    """Return the merges of a merge list that can apply; the place in the list is the priority.

    Args:
        tokens: The vocabulary.
        merges: The two parts of every merge.
        name_place: Name a place of the list for an error message.

    >>> tokens = [bytes([i]) for i in range(256)] + [b"ab", b"bc", b"abc"]
    >>> found = merges_of_list(tokens, [(b"a", b"b"), (b"b", b"c"), (b"ab", b"c"), (b"a", b"bc")])
    >>> found.pairs.tolist(), found.unmergeable
    ([[97, 98], [98, 99], [256, 99]], [])
    """
    known = dict.fromkeys(tokens)  # not a set, whose order differs from run to run
    places: dict[tuple[bytes, bytes], int] = {}
    for place, pair in enumerate(merges):
        # The last line of a repeated pair counts, as in the dictionary that the original builds.
        places[pair] = place
        for part in (*pair, pair[0] + pair[1]):
            if part not in known:
                raise NotExactError(
                    f"{name_place(place)}: {shown(pair[0])} + {shown(pair[1])} needs the token "
                    f"{shown(part)}, which is not in the vocabulary"
                )
    return _find(known, places.get)


def merges_of_ranks(ranks: Mapping[bytes, int]) -> FoundMerges:
    """Return the merges of a rank file: two neighbours merge if their joined bytes have a rank.

    >>> ranks = {bytes([i]): i for i in range(256)} | {b"bc": 256, b"abc": 257, b"xyz": 258}
    >>> found = merges_of_ranks(ranks)
    >>> found.pairs.tolist(), found.unmergeable
    ([[98, 99], [97, 256]], [b'xyz'])
    """
    return _find(ranks, lambda pair, default: ranks.get(pair[0] + pair[1], default))


def imported_tokenizer(
    found: FoundMerges,
    ids: Mapping[bytes, int],
    special_tokens: Mapping[str, int],
    cut: ForeignCut,
    *,
    whole_chunks: bool = False,
    origin: Settings,
) -> ImportedTokenizer:
    """Build a tokenizer from recovered merges, with the ids of the original."""
    vocabulary = ForeignVocabulary(
        found.pairs,
        np.ones(len(found.strings), bool),
        tuple(special_tokens),
        ids_of_ranks=tuple(ids[string] for string in found.strings),
        ids_of_specials=tuple(special_tokens.values()),
        unmergeable=tuple((string, ids[string]) for string in found.unmergeable),
    )
    tokenizer = ImportedTokenizer(vocabulary, cut, whole_chunks=whole_chunks, origin=origin)
    tokenizer.check_tokens()
    return tokenizer


def _find(tokens: Iterable[bytes], priority: Priority) -> FoundMerges:
    tokens = list(tokens)
    single = {token[0] for token in tokens if len(token) == 1}
    if len(single) < BYTE_COUNT:
        missing = min(set(range(BYTE_COUNT)) - single)
        raise NotExactError(
            f"{BYTE_COUNT - len(single)} bytes have no token (the first: 0x{missing:02x}): "
            "the original drops them or emits an unknown token, so encoding is not lossless",
            hint="train the original with all 256 bytes, for instance with "
            "initial_alphabet=ByteLevel.alphabet()",
        )
    made: dict[bytes, Merge] = {}
    unmergeable = []
    for token in tokens:
        if len(token) > 1:
            last = (_by_search if len(token) <= _SHORT else _by_heap)(token, priority)
            if last is None:
                unmergeable.append(token)
            else:
                made[token] = last
    strings = [bytes([byte]) for byte in range(BYTE_COUNT)] + placed_merges(made)
    rank_of = {string: rank for rank, string in enumerate(strings)}
    parts = [made[string][1:] for string in strings[BYTE_COUNT:]]
    pairs = [(rank_of[left], rank_of[right]) for left, right in parts]
    return FoundMerges(np.array(pairs, np.uint32).reshape(-1, 2), strings, unmergeable)


def _by_search(token: bytes, priority: Priority) -> Merge | None:
    """Encode a token's bytes; return the merge that completes it, or ``None``."""
    parts = [token[i : i + 1] for i in range(len(token))]
    weights = list(map(priority, pairwise(parts), repeat(_NEVER)))
    while (weight := min(weights)) != _NEVER:
        if len(parts) == 2:
            return weight, parts[0], parts[1]
        place = weights.index(weight)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
        del weights[place]
        if place:
            weights[place - 1] = priority((parts[place - 1], parts[place]), _NEVER)
        if place < len(weights):
            weights[place] = priority((parts[place], parts[place + 1]), _NEVER)
    return None


def _by_heap(token: bytes, priority: Priority) -> Merge | None:
    """As :func:`_by_search` in n log n steps, because damaged files hold long tokens."""
    size = len(token)
    # A part lies at its first byte. Where it ends, 0 for bytes inside a part; where the one before
    # it begins.
    ends = list(range(1, size + 1))
    before = list(range(-1, size - 1))
    heap: list[tuple[int, int, int, int]] = []

    def offer(begin: int, middle: int) -> None:
        end = ends[middle]
        weight = priority((token[begin:middle], token[middle:end]), _NEVER)
        if weight != _NEVER:
            heappush(heap, (weight, begin, middle, end))

    for middle in range(1, size):
        offer(middle - 1, middle)
    while heap:
        weight, begin, middle, end = heappop(heap)
        if ends[begin] != middle or ends[middle] != end:
            continue  # one of the two has merged with another since
        if end - begin == size:
            return weight, token[:middle], token[middle:]
        ends[begin], ends[middle] = end, 0
        if begin > 0:
            offer(before[begin], begin)
        if end < size:
            before[end] = begin
            offer(begin, end)
    return None
