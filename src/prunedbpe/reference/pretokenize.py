"""The pretokenizers ``paper`` and ``reference`` in plain Python: the oracle of the tests.

In: a text. Out: its chunks; joined, they are the text. The code is slow and obvious on purpose, and
the native scanners must cut every text exactly as it does.

``reference`` cuts as the implementation released with the paper does. ``paper`` adds one rule that
the paper names and that implementation lacks: ``C++`` and ``C#`` stay whole.

Character classes come from a module with the interface of :mod:`unicodedata`. The native scanners
have one fixed Unicode version (``prunedbpe.pretokenizers.UNICODE_VERSION``; 14.0 for
``reference``), so comparing the two needs a module of that version. The default is the module of
the running Python.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from enum import Enum
from typing import Protocol


class CharacterDatabase(Protocol):
    """The functions of :mod:`unicodedata` that classification uses."""

    def category(self, character: str, /) -> str:
        """Return the general category, such as ``Lu``."""

    def name(self, character: str, default: str, /) -> str:
        """Return the Unicode name, or ``default`` if the character has none."""


class CharacterClass(Enum):
    """The seven classes of the rules; every character has exactly one."""

    SPACE = "characters for which str.isspace is true"
    LATIN = "ASCII letters, the underscore, letters and marks with LATIN in their name"
    DIGIT = "numbers of any script"
    WORD = "all other letters and marks"
    PUNCT = "punctuation"
    SYMBOL = "symbols"
    OTHER = "controls, formats, private and unassigned characters"


SPACE, LATIN, DIGIT, WORD, PUNCT, SYMBOL, OTHER = CharacterClass

LATIN_CONNECTORS = ".'’-"
"""These stay inside a LATIN span if a LATIN or DIGIT character follows."""

DIGIT_CONNECTORS = ".-"
"""These stay inside a DIGIT span if a DIGIT follows."""


def character_class(character: str, database: CharacterDatabase = unicodedata) -> CharacterClass:
    r"""Return the class of one character.

    >>> [character_class(c).name for c in "é_年٣\t+."]
    ['LATIN', 'LATIN', 'WORD', 'DIGIT', 'SPACE', 'SYMBOL', 'PUNCT']
    """
    if character.isspace():
        return SPACE
    if character == "_":
        return LATIN
    category = database.category(character)
    if category[0] in "LM":
        return LATIN if "LATIN" in database.name(character, "") else WORD
    return {"N": DIGIT, "P": PUNCT, "S": SYMBOL}.get(category[0], OTHER)


def split(text: str, name: str = "paper", database: CharacterDatabase = unicodedata) -> list[str]:
    """Cut ``text`` into the chunks of the pretokenizer ``name`` (``paper`` or ``reference``).

    >>> split("I don't like C++ 3.14!!")
    ['I', " don't", ' like', ' C++', ' 3.14', '!!']
    >>> split("I like C++", "reference")
    ['I', ' like', ' C', '++']
    """
    if name not in ("paper", "reference"):
        raise ValueError(f"unknown pretokenizer {name!r}: use paper or reference")
    # A sentinel past the end saves every look-ahead a test of the length.
    classes: list[CharacterClass | None] = [character_class(c, database) for c in text]
    scanner = _Scanner(text, [*classes, None], keeps_language_names=name == "paper")
    chunks = []
    begin = 0
    while begin < len(text):
        end = scanner.chunk_end(begin)
        chunks.append(text[begin:end])
        begin = end
    return chunks


class _Scanner:
    """A text and the classes of its characters, with ``None`` past the end."""

    def __init__(
        self, text: str, classes: list[CharacterClass | None], *, keeps_language_names: bool
    ) -> None:
        self.text = text
        self.classes = classes
        self.keeps_language_names = keeps_language_names

    def chunk_end(self, begin: int) -> int:
        """Return the end of the chunk that starts at ``begin``, by the rules in their order."""
        if self.classes[begin] is SPACE:
            end = self._run_end(begin, lambda i: self.classes[i] is SPACE)
            if self.text[begin:end] != " ":
                return end
            # Exactly one U+0020 joins the span after it, if there is one.
            return self._span_end(end) or end
        span_end = self._span_end(begin)
        if span_end is not None:
            return span_end
        if self.text.startswith("</", begin):
            return begin + 2
        return self._run_end(begin, lambda i: self.text[i : i + 1] == self.text[begin])

    def _span_end(self, begin: int) -> int | None:
        """Return the end of the span or extension at ``begin``, or ``None`` if neither starts."""
        start = self.classes[begin]
        if start is LATIN:
            return self._latin_span_end(begin)
        if start is DIGIT:
            return self._connected_end(begin, (DIGIT,), DIGIT_CONNECTORS)
        if start is WORD:
            return self._run_end(begin, lambda i: self.classes[i] is WORD)
        if self.text[begin : begin + 1] == "." and self.classes[begin + 1] is LATIN:
            return self._connected_end(begin + 1, (LATIN, DIGIT), "")
        return None

    def _latin_span_end(self, begin: int) -> int:
        end = self._connected_end(begin, (LATIN, DIGIT), LATIN_CONNECTORS)
        if self.keeps_language_names and end == begin + 1 and "A" <= self.text[begin] <= "Z":
            for suffix in ("++", "#"):
                after = end + len(suffix)
                if self.text.startswith(suffix, end) and self.text[after : after + 1] not in (
                    "+",
                    "#",
                ):
                    return after
        return end

    def _connected_end(
        self, begin: int, members: tuple[CharacterClass, ...], connectors: str
    ) -> int:
        """Return the end of a run of ``members`` that single connectors may join."""
        end = begin
        while True:
            end = self._run_end(end, lambda i: self.classes[i] in members)
            connector = self.text[end : end + 1]
            if not connector or connector not in connectors:
                return end
            if self.classes[end + 1] not in members:
                return end
            end += 1

    def _run_end(self, begin: int, belongs: Callable[[int], bool]) -> int:
        """Return the first position from ``begin`` that does not belong, or the end of the text."""
        end = begin
        while end < len(self.text) and belongs(end):
            end += 1
        return end
