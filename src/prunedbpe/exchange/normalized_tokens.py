"""Added tokens that Hugging Face tokenizers look for in normalized text.

An added token with ``normalized=true`` is found after normalization, all others before it. Our
encoder finds all of them at once, in the text as it is. Both agree if normalization neither makes
the token from other characters nor changes it inside any text, and if no token of the other kind
can begin inside it. Every other file is refused.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Collection
from functools import lru_cache

from prunedbpe._support.json_values import JsonValue, shown
from prunedbpe.errors import NotExactError
from prunedbpe.pretokenizers.foreign_cut import Normalization


def check_normalized(entries: JsonValue, normalization: Normalization | None) -> None:
    """Check that looking for all added tokens at once finds those of the library.

    Args:
        entries: The list ``added_tokens``.
        normalization: The normal form of the file.

    Raises:
        NotExactError: It may find others; the message names the token.
    """
    late, early = [], set()
    for entry in entries.items():
        content = entry["content"].text()
        if entry["normalized"].flag(default=True):
            late.append(content)
        else:
            early.add(content)
    for content in late:
        if normalization is not None and not survives(content, normalization):
            raise NotExactError(
                f"added token {shown(content)} with normalized=true: {normalization} may make or "
                "change it, depending on the text around it"
            )
    for content in late:
        other = _overlapping(content, early)
        if other is not None:
            raise NotExactError(
                f"added tokens {shown(content)} (normalized=true) and {shown(other)} overlap: "
                "which of them is found depends on the order of looking"
            )


def survives(content: str, normalization: Normalization) -> bool:
    """Whether a text holds this token exactly if its normal form does, at the same place.

    >>> survives("  ", "NFC"), survives("  ", "NFKC"), survives("<a>", "NFC")
    (True, False, False)
    """
    made, first, second = _taking_part(normalization)
    return (
        bool(content)
        and unicodedata.normalize(normalization, content) == content
        and made.isdisjoint(content)
        and content[-1] not in first
        and content[0] not in second
    )


@lru_cache(maxsize=2)
def _taking_part(normalization: Normalization) -> tuple[set[str], set[str], set[str]]:
    """Return the characters that others become, and those that compose with the next or the last.

    A combining mark is in the last two sets: it may be reordered.
    """
    made: set[str] = set()
    first: set[str] = set()
    second: set[str] = set()
    for point in range(0x80, sys.maxunicode + 1):
        character = chr(point)
        normal = unicodedata.normalize(normalization, character)
        if normal != character:
            made.update(normal)
        apart = unicodedata.normalize("NFD", character)
        if len(apart) > 1:
            first.add(apart[0])
            first.add(unicodedata.normalize("NFC", apart[:-1])[-1])
            second.update(apart[1:])
        if unicodedata.combining(character):
            first.add(character)
            second.add(character)
    return made, first, second


def _overlapping(content: str, others: Collection[str]) -> str | None:
    """Return a text of ``others`` that may begin inside ``content``, where that is found first.

    One that begins earlier is found first by both ways of looking.
    """
    for other in others:
        if other in content or any(content.endswith(other[:size]) for size in range(1, len(other))):
            return other
    return None
