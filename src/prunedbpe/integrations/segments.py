"""Segments of a text: an added token each, or the ordinary text between two of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Segment:
    """Characters ``[begin, end)`` of a text; one added token if ``token_id`` is given.

    Attributes:
        spaces: How much white space an added token begins and ends with, as it stands in the text.
    """

    begin: int
    end: int
    token_id: int | None = None
    spaces: tuple[int, int] = (0, 0)
