"""The script of a chunk, and the part of a corpus in each script.

The script of a chunk is that of its first letter: the first word of the letter's Unicode name
(``LATIN``, ``CJK``, ``CYRILLIC``). A chunk without letters is ``other``.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np

from prunedbpe.counts import ChunkCounts

NO_LETTER = "other"

UNSPACED = frozenset(
    {"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", NO_LETTER}
)
"""Scripts written without spaces, where chunks are not words."""


@lru_cache(maxsize=1 << 16)
def script_of_character(character: str) -> str:
    """Return the script of a letter, or ``other``.

    >>> [script_of_character(c) for c in "aя中1"]
    ['LATIN', 'CYRILLIC', 'CJK', 'other']
    """
    if not character.isalpha():
        return NO_LETTER
    return unicodedata.name(character, NO_LETTER).partition(" ")[0]


def script_of(chunk: bytes) -> str:
    """Return the script of a chunk.

    >>> script_of(b" the"), script_of(b"==="), script_of("1 中".encode())
    ('LATIN', 'other', 'CJK')
    """
    if chunk.isascii():
        return "LATIN" if any(byte | 0x20 in range(97, 123) for byte in chunk) else NO_LETTER
    for character in chunk.decode(errors="replace"):
        script = script_of_character(character)
        if script != NO_LETTER:
            return script
    return NO_LETTER


def split_by_script(counts: ChunkCounts) -> dict[str, ChunkCounts]:
    """Split a table by script; the script with the most characters comes first."""
    scripts = np.array([script_of(chunk) for chunk, _ in counts.items()])
    tables = {str(script): counts.select(scripts == script) for script in np.unique(scripts)}
    return dict(sorted(tables.items(), key=lambda named: (-characters(named[1]), named[0])))


def characters(counts: ChunkCounts) -> int:
    """Count the characters of a corpus: all bytes but UTF-8 continuation bytes.

    >>> characters(ChunkCounts.from_mapping({"中a".encode(): 3}))
    6
    """
    starts = counts.byte_counts.copy()
    starts[0x80:0xC0] = 0
    return int(starts.sum())
