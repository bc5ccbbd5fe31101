"""Cut a text at added tokens: segments that are one token each, and ordinary text between them.

The rules are those of fast tokenizers of transformers: an added token may absorb adjacent white
space (``lstrip``, ``rstrip``) or match only as a separate word (``single_word``). Tokens that match
the text as it is come first, then those that match normalized text (``normalized``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from prunedbpe.errors import NotExactError
from prunedbpe.integrations.segments import Segment
from prunedbpe.integrations.token_spans import spans_in_original
from prunedbpe.tokenizer.special_tokens import special_pattern

WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
)
"""Unicode's white space; ``str.isspace`` has four control characters more."""


class AddedTokenLike(Protocol):
    """The attributes of an ``AddedToken`` that cutting uses."""

    @property
    def content(self) -> str:
        """The text of the token."""

    @property
    def lstrip(self) -> bool:
        """Whether it absorbs white space before it."""

    @property
    def rstrip(self) -> bool:
        """Whether it absorbs white space after it."""

    @property
    def single_word(self) -> bool:
        """Whether it matches only between characters that are not part of a word."""

    @property
    def normalized(self) -> bool:
        """Whether it matches normalized text."""

    @property
    def special(self) -> bool:
        """Whether it is a special token."""


@dataclass
class AddedTokenFinder:
    """Finds added tokens that match the text as it is, or those that match normalized text.

    Attributes:
        added: The tokens by id.
        normalize: Normalizes the text before they match; ``None`` leaves it as it is.
    """

    added: Mapping[int, AddedTokenLike]
    normalize: Callable[[str], str] | None = None

    @cached_property
    def _tokens(self) -> dict[str, tuple[int, AddedTokenLike]]:
        normalize = self.normalize or str
        return {normalize(token.content): (i, token) for i, token in self.added.items()}

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches any of the tokens, the longest first."""
        return special_pattern(tuple(self._tokens))

    def cut(self, text: str, part: Segment, split_special: bool) -> list[Segment]:
        """Cut ordinary text at the tokens; ``split_special`` leaves out the special ones."""
        ordinary = text[part.begin : part.end]
        searched = self.normalize(ordinary) if self.normalize else ordinary
        found = self._find(searched, split_special)
        if not found:
            return [part]
        if searched != ordinary and self.normalize:
            found = _in_original(ordinary, self.normalize, found)
        segments, done = [], 0
        for token in found:
            segments += [Segment(done, token.begin), token]
            done = token.end
        segments.append(Segment(done, len(ordinary)))
        for segment in segments:
            if segment.token_id is not None:
                segment.spaces = _spaces(ordinary[segment.begin : segment.end])
            segment.begin += part.begin
            segment.end += part.begin
        return [s for s in segments if s.end > s.begin or s.token_id is not None]

    def _find(self, text: str, split_special: bool) -> list[Segment]:
        found: list[Segment] = []
        done = 0
        for match in self.pattern.finditer(text):
            token_id, token = self._tokens[match.group()]
            begin, end = match.span()
            if split_special and token.special:
                continue
            if token.single_word and (
                (begin > 0 and _is_of_word(text[begin - 1]))
                or (end < len(text) and _is_of_word(text[end]))
            ):
                continue
            while token.lstrip and begin > done and text[begin - 1] in WHITE_SPACE:
                begin -= 1
            while token.rstrip and end < len(text) and text[end] in WHITE_SPACE:
                end += 1
            found.append(Segment(begin, end, token_id))
            done = end
        return found


def cut_at_added_tokens(
    text: str, finders: Sequence[AddedTokenFinder], split_special: bool
) -> list[Segment] | None:
    """Return the segments of a text; ``None`` if it holds no added token."""
    segments = [Segment(0, len(text))]
    for finder in finders:
        segments = [
            piece
            for part in segments
            for piece in (
                [part] if part.token_id is not None else finder.cut(text, part, split_special)
            )
        ]
    return None if len(segments) == 1 and segments[0].token_id is None else segments


def _spaces(text: str) -> tuple[int, int]:
    """Return how much white space a text begins and ends with."""
    return len(text) - len(text.lstrip(WHITE_SPACE)), len(text) - len(text.rstrip(WHITE_SPACE))


def _in_original(text: str, normalize: Callable[[str], str], found: list[Segment]) -> list[Segment]:
    """Return tokens found in the normalized text as segments of the text."""
    spans = spans_in_original(text, normalize, [(token.begin, token.end) for token in found])
    normalized = normalize(text)
    for (begin, end), token in zip(spans, found, strict=True):
        if normalize(text[begin:end]) != normalized[token.begin : token.end]:
            raise NotExactError(
                f"the added token {normalized[token.begin : token.end]!r} begins or ends inside a "
                f"character of {text[begin:end]!r} that normalization makes",
                hint="normalize the text first: unicodedata.normalize('NFC', text)",
            )
    return [
        Segment(begin, end, token.token_id)
        for (begin, end), token in zip(spans, found, strict=True)
    ]


def _is_of_word(character: str) -> bool:
    r"""Whether ``\w`` of Rust's regular expressions matches a character."""
    category = unicodedata.category(character)
    return (
        category[0] in "LM"
        or category in {"Nd", "Nl", "Pc"}
        or character in "\u200c\u200d"
        or "\u24b6" <= character <= "\u24e9"  # letters in circles and squares
        or "\U0001f130" <= character <= "\U0001f149"
        or "\U0001f150" <= character <= "\U0001f169"
        or "\U0001f170" <= character <= "\U0001f189"
    )
