"""Text to token ids and back, and the fewest visible tokens for a chunk (steps 6 and 7).

In: text, a `PrunedVocabulary` and the ``split`` function it was trained with. Out: visible token
ids. Encoding a chunk costs (its length)^2 here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise

from prunedbpe.errors import SettingsError
from prunedbpe.reference.learn import Pair, spell
from prunedbpe.reference.visibility import PrunedVocabulary
from prunedbpe.types import BYTE_COUNT


def encode_chunk(chunk: bytes, merges: Sequence[Pair]) -> list[int]:
    """Merge a chunk into ranks: always the lowest-ranked adjacent pair, the leftmost if tied.

    >>> encode_chunk(b"thethat", [(97, 116), (116, 104), (257, 101)])  # "at", "th", "the"
    [258, 257, 256]
    """
    rank_of = {pair: BYTE_COUNT + place for place, pair in enumerate(merges)}
    ranks = list(chunk)
    while True:
        candidates = [
            (rank_of[pair], position)
            for position, pair in enumerate(pairwise(ranks))
            if pair in rank_of
        ]
        if not candidates:
            return ranks
        new_rank, position = min(candidates)
        ranks[position : position + 2] = [new_rank]


def expand(rank: int, vocabulary: PrunedVocabulary) -> list[int]:
    """Return a token's visible token ids: its own, or those of its children if it is internal.

    >>> from prunedbpe.reference.visibility import train
    >>> counts = {b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}
    >>> vocabulary = train(counts, 260, "100%", special_tokens=["<eos>"])
    >>> expand(257, vocabulary)  # "th" is internal
    [116, 104]
    """
    token_id = vocabulary.token_ids[rank]
    if token_id < vocabulary.vocab_size:
        return [token_id]
    left, right = vocabulary.merges[rank - BYTE_COUNT]
    return expand(left, vocabulary) + expand(right, vocabulary)


def encode(
    text: str, vocabulary: PrunedVocabulary, split: Callable[[str], Iterable[str]]
) -> list[int]:
    """Encode a text into visible token ids. The text of a special token is ordinary text.

    >>> from prunedbpe.reference.visibility import train
    >>> counts = {b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}
    >>> vocabulary = train(counts, 260, "100%", special_tokens=["<eos>"])
    >>> encode("the that", vocabulary, str.split)  # the | t h at
    [257, 116, 104, 256]
    """
    return [
        token_id
        for chunk in split(text)
        for rank in encode_chunk(chunk.encode(), vocabulary.merges)
        for token_id in expand(rank, vocabulary)
    ]


def decode_bytes(token_ids: Iterable[int], vocabulary: PrunedVocabulary) -> bytes:
    """Join the strings of visible and special tokens."""
    strings = spell(vocabulary.merges)
    spelled = {vocabulary.token_ids[rank]: strings[rank] for rank in range(BYTE_COUNT)}
    spelled.update((vocabulary.token_ids[rank], strings[rank]) for rank in vocabulary.visible)
    spelled.update((token_id, text.encode()) for text, token_id in vocabulary.special_ids.items())
    pieces = []
    for token_id in token_ids:
        if token_id not in spelled:
            raise SettingsError(
                f"token id {token_id} is outside the vocabulary",
                hint=f"token ids go from 0 to {vocabulary.vocab_size - 1}",
            )
        pieces.append(spelled[token_id])
    return b"".join(pieces)


def decode(token_ids: Iterable[int], vocabulary: PrunedVocabulary) -> str:
    """Turn token ids into text; invalid UTF-8 becomes U+FFFD.

    >>> from prunedbpe.reference.visibility import train
    >>> counts = {b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}
    >>> decode([257, 259], train(counts, 260, "100%", special_tokens=["<eos>"]))
    'the<eos>'
    """
    return decode_bytes(token_ids, vocabulary).decode(errors="replace")


def shortest(chunk: bytes, strings: Collection[bytes]) -> list[bytes]:
    """Cut a chunk into the fewest visible strings; single bytes are always among them (step 7).

    The method defines only how many tokens there are. Of several cuts with the fewest, this one
    has the longest last token, then the longest token before it, and so on. ``best[end]`` is the
    cut of ``chunk[:end]``: one token more than the best cut of what precedes its last token.

    >>> shortest(b"abcde", [b"abc", b"ab", b"cde"])
    [b'ab', b'cde']
    >>> shortest(b"aaaaa", [b"aa", b"aaa"])
    [b'aa', b'aaa']
    """
    visible = {string for string in strings if string} | {bytes([byte]) for byte in set(chunk)}
    longest = max(map(len, visible), default=0)
    best: list[list[bytes]] = [[]]
    for end in range(1, len(chunk) + 1):
        starts = range(max(0, end - longest), end)
        matching = [start for start in starts if chunk[start:end] in visible]
        start = min(matching, key=lambda start: (len(best[start]), start))
        best.append([*best[start], chunk[start:end]])
    return best[-1]
