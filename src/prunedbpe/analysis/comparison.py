"""Two vocabularies side by side: what became internal, what took the place, what it is worth.

Groups follow the paper's qualitative analysis: word fragments, Chinese characters and phrases,
partial UTF-8, structured text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from prunedbpe.merges import Applied, check_same_merges
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import BYTE_COUNT, Int64Array
from prunedbpe.visibility.exposure import encoded_length, exposure
from prunedbpe.vocabulary import Vocabulary

Group = Literal[
    "word", "word fragment", "Chinese character", "Chinese phrase", "partial UTF-8", "structured"
]


def group_of(string: bytes) -> Group:
    r"""The group of the paper's qualitative analysis a token belongs to.

    A word begins with its space, as words do inside text; letters without one are a fragment.

    >>> [group_of(s) for s in (b" environment", b"vironment", "国".encode(), "人民".encode())]
    ['word', 'word fragment', 'Chinese character', 'Chinese phrase']
    >>> [group_of(s) for s in (b"\xe4\xb8", b"</div>", b"    ")]
    ['partial UTF-8', 'structured', 'structured']
    """
    try:
        text = string.decode()
    except UnicodeDecodeError:
        return "partial UTF-8"
    if all(unicodedata.name(character, "").startswith("CJK UNIFIED") for character in text):
        return "Chinese character" if len(text) == 1 else "Chinese phrase"
    letters = text[1:] if text[0].isspace() else text
    # Marks count as letters: vowels of many scripts are marks.
    if letters and all(unicodedata.category(character)[0] in "LM" for character in letters):
        return "word" if text[0].isspace() else "word fragment"
    return "structured"


@dataclass(frozen=True)
class ComparedToken:
    """A token that one of two vocabularies shows and the other does not.

    Attributes:
        text: What it spells, readable.
        rank: Its training rank.
        group: Its group.
        exposure: How often it stands in the corpus once all merges of the longer list are applied,
            before expansion.
        worth: Tokens it saves on the corpus where it is visible: exposure times one less than the
            tokens that stand for it in the other vocabulary.
        expands_to: What stands for it where it is not visible.
        supports: Visible tokens built on it, the most exposed first.
    """

    text: str
    rank: int
    group: Group
    exposure: int
    worth: int
    expands_to: list[str]
    supports: list[str]

    def as_row(self) -> dict[str, Any]:
        """The token as a flat mapping, for CSV and JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Comparison:
    """What changes from one vocabulary to another.

    ``length_after - length_before`` is the worth of all hidden tokens, less that of all shown ones,
    plus ``others``.

    Attributes:
        hidden: Visible in the first, not in the second, the dearest first.
        shown: Visible in the second, not in the first, the most valuable first.
        length_before: Encoded length of the corpus with the first.
        length_after: Encoded length with the second.
        others: Tokens more (less, if negative) that stand for what neither of the two shows.
    """

    hidden: list[ComparedToken]
    shown: list[ComparedToken]
    length_before: int
    length_after: int
    others: int

    def as_settings(self) -> dict[str, Any]:
        """The comparison as a JSON object."""
        return asdict(self)


def compare(before: Tokenizer, after: Tokenizer, applied: Applied) -> Comparison:
    """Compare two tokenizers over one merge list on a corpus.

    Args:
        before: The first, for instance Standard BPE.
        after: The second, for instance pruned.
        applied: What the longer of the two merge lists does to the corpus (see
            :func:`prunedbpe.replay`).

    Raises:
        RunMismatchError: The two do not share their merges.
    """
    first, second = before.vocabulary, after.vocabulary
    shorter, longer = sorted((first, second), key=lambda vocabulary: len(vocabulary.pairs))
    check_same_merges(shorter.pairs, longer.pairs)
    # The shorter list is a prefix of the longer one: what its merges leave is what the tokens of
    # the longer one fall into. So both lengths are sums over the same tokens.
    exposures = exposure(longer.pairs, applied, len(longer.pairs))
    hidden = _only_in(first, second, longer, exposures)
    shown = _only_in(second, first, longer, exposures)
    length_before = encoded_length(first.pairs, applied, ~first.visible)
    length_after = encoded_length(second.pairs, applied, ~second.visible)
    worth = sum(token.worth for token in hidden) - sum(token.worth for token in shown)
    return Comparison(
        hidden, shown, length_before, length_after, length_after - length_before - worth
    )


def _only_in(
    shows: Vocabulary, other: Vocabulary, longer: Vocabulary, exposures: Int64Array
) -> list[ComparedToken]:
    """Tokens visible in ``shows`` that ``other`` has no id for, the most valuable first."""
    missing = [
        rank
        for rank in np.flatnonzero(shows.visible).tolist()
        if rank >= BYTE_COUNT and not (rank < len(other.visible) and other.visible[rank])
    ]
    supported = _supported_by(missing, longer)
    tokens = []
    for rank in missing:
        pieces = _pieces(rank, shows, other)
        named = sorted(supported[rank], key=lambda parent: (-int(exposures[parent]), parent))
        tokens.append(
            ComparedToken(
                text=readable(shows.strings[rank]),
                rank=rank,
                group=group_of(shows.strings[rank]),
                exposure=int(exposures[rank]),
                worth=int(exposures[rank]) * (len(pieces) - 1),
                expands_to=[readable(piece) for piece in pieces],
                supports=[readable(longer.strings[parent]) for parent in named[:5]],
            )
        )
    return sorted(tokens, key=lambda token: (-token.worth, token.rank))


def _pieces(rank: int, shows: Vocabulary, other: Vocabulary) -> list[bytes]:
    """The visible strings of ``other`` that stand for a rank of ``shows``."""
    pieces: list[bytes] = []
    waiting = [rank]  # a stack: the next part is on top
    while waiting:
        part = waiting.pop()
        if part < len(other.visible) and other.visible[part]:
            pieces.append(shows.strings[part])
        else:
            waiting += reversed(shows.pairs[part - BYTE_COUNT].tolist())
    return pieces


def _supported_by(ranks: Iterable[int], vocabulary: Vocabulary) -> dict[int, list[int]]:
    """For each rank, the visible tokens that are built on it, directly or through others."""
    parents: dict[int, list[int]] = {}
    for parent, pair in enumerate(vocabulary.pairs.tolist(), BYTE_COUNT):
        for part in set(pair):
            parents.setdefault(part, []).append(parent)
    found: dict[int, list[int]] = {}
    for rank in ranks:
        seen: set[int] = set()
        waiting = [rank]
        while waiting:
            for parent in parents.get(waiting.pop(), []):
                if parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        found[rank] = [parent for parent in seen if vocabulary.visible[parent]]
    return found


def readable(string: bytes) -> str:
    r"""A token as a person can read it: text, or its bytes in angle brackets.

    >>> readable(b" the"), readable(b"\xe4\xb8"), readable(b"\n")
    (' the', '<E4 B8>', '\\n')
    """
    try:
        text = string.decode()
    except UnicodeDecodeError:
        return f"<{string.hex(' ').upper()}>"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
