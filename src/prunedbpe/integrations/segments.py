"""Segments of a text: an added token each, or the ordinary text between two of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Segment:
    """Characters ``[begin, end)`` of a text; one added token if ``token_id`` is given."""

    begin: int
    end: int
    token_id: int | None = None
