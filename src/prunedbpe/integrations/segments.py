"""Cut a text at added tokens: spans that are one token each, and ordinary text between them.

The rules are those of transformers: an added token may absorb adjacent white space (``lstrip``,
``rstrip``) or match only as a separate word (``single_word``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


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
        """Whether it matches only between spaces."""


@dataclass
class Segment:
    """Characters ``[begin, end)`` of a text; one added token if ``token_id`` is given."""

    begin: int
    end: int
    token_id: int | None = None


def cut_at_added_tokens(
    parts: Sequence[str],
    ids: Mapping[str, int],
    added: Mapping[int, AddedTokenLike],
) -> list[Segment]:
    """Return the segments of a text.

    Args:
        parts: The text, already split so that every added token is a part.
        ids: Ids of the added tokens by text.
        added: The added tokens by id.
    """
    segments = []
    at = 0
    for part in parts:
        segments.append(Segment(at, at + len(part), ids.get(part)))
        at += len(part)
    text = "".join(parts)
    for i, segment in enumerate(segments):
        if segment.token_id is None:
            continue
        token = added[segment.token_id]
        left = segments[i - 1] if i > 0 else None
        right = segments[i + 1] if i + 1 < len(segments) else None
        if token.single_word and (
            (left and left.end > left.begin and text[left.end - 1] != " ")
            or (right and right.end > right.begin and text[right.begin] != " ")
        ):
            segment.token_id = None
            continue
        if token.rstrip and right and right.token_id is None:
            right.begin = right.end - len(text[right.begin : right.end].lstrip())
        if token.lstrip and left and left.token_id is None:
            left.end = left.begin + len(text[left.begin : left.end].rstrip())
    return _join_ordinary([segment for segment in segments if segment.end > segment.begin])


def _join_ordinary(segments: list[Segment]) -> list[Segment]:
    """Join adjacent ordinary segments, because merges may cross the boundary between them."""
    joined: list[Segment] = []
    for segment in segments:
        last = joined[-1] if joined else None
        if (
            last
            and last.token_id is None
            and segment.token_id is None
            and last.end == segment.begin
        ):
            last.end = segment.end
        else:
            joined.append(segment)
    return joined
