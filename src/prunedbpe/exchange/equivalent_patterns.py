r"""The built-in pretokenizers as regular expressions that other libraries can run.

In: the name of a pretokenizer. Out: a pattern for Oniguruma (Hugging Face tokenizers) and for
fancy-regex (tiktoken) whose matches are exactly the chunks of the native scanner. A class like
``\p{L}`` would mean whatever Unicode version the other library was built with, and no engine has
a class for "LATIN in its name"; so every class is spelled out from the scanners' own tables.
The patterns hold to syntax that both engines read alike: no ``(?i)``, ``$`` or possessive
quantifiers, which they do not.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from prunedbpe import _core
from prunedbpe.errors import NotExactError
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.types import BoolArray

# The flags of cpp/src/pretokenize/unicode_tables.hpp.
_UPPER, _LOWER, _UNCASED, _MARK, _NUMBER = 1, 2, 4, 8, 16
_LETTER = _UPPER | _LOWER | _UNCASED
_PYTHON_SPACE, _LATIN, _LATER = 1 << 8, 1 << 9, 1 << 11

_ANY = r"[\x{0}-\x{10FFFF}]"
_CONTRACTION_ANY_CASE = r"'(?:[sSdDmMtT\x{17F}]|[lL][lL]|[vV][eE]|[rR][eE])"


@lru_cache(maxsize=8)
def equivalent_pattern(pretokenizer: Pretokenizer) -> str:
    r"""A pattern whose matches are the chunks of a built-in pretokenizer, and cover every text.

    Raises:
        NotExactError: The pretokenizer is a regular expression of the package ``regex``, which
            another engine may read otherwise.

    >>> equivalent_pattern(Pretokenizer("none"))
    '[\\x{0}-\\x{10FFFF}]+'
    """
    name = pretokenizer.name
    if name == "none":
        return f"{_ANY}+"
    if name in ("paper", "reference"):
        return _paper_pattern(is_reference=name == "reference")
    flags = _core.code_point_flags()
    letter, number = _members(flags & _LETTER != 0), _members(flags & _NUMBER != 0)
    if name == "gpt2":
        return (
            rf"'(?:[sdmt]|ll|ve|re)| ?[{letter}]+| ?[{number}]+| ?[^\s{letter}{number}]+"
            r"|\s+(?!\S)|\s+"
        )
    if name == "cl100k":
        return (
            rf"{_CONTRACTION_ANY_CASE}|[^\r\n{letter}{number}]?[{letter}]+|[{number}]{{1,3}}"
            rf"| ?[^\s{letter}{number}]+[\r\n]*|\s+\z|\s*[\r\n]|\s+(?!\S)|\s"
        )
    if name == "o200k":
        capitals = _members(flags & (_UPPER | _UNCASED | _MARK) != 0)
        smalls = _members(flags & (_LOWER | _UNCASED | _MARK) != 0)
        before, behind = rf"[^\r\n{letter}{number}]?", f"(?:{_CONTRACTION_ANY_CASE})?"
        return (
            rf"{before}[{capitals}]*[{smalls}]+{behind}|{before}[{capitals}]+[{smalls}]*{behind}"
            rf"|[{number}]{{1,3}}| ?[^\s{letter}{number}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    raise NotExactError(
        f"the pretokenizer {pretokenizer.pattern!r} is a regular expression of the package "
        "'regex'; another library's engine may read it otherwise",
        hint="train with a built-in pretokenizer, or use the transformers folder",
    )


def _paper_pattern(*, is_reference: bool) -> str:
    """Mirrors cpp/src/pretokenize/paper.cpp, one part for each of its rules."""
    flags = _core.code_point_flags()
    if is_reference:
        flags = np.where(flags & _LATER, 0, flags)
    is_space = flags & _PYTHON_SPACE != 0
    is_latin, is_number = flags & _LATIN != 0, flags & _NUMBER != 0
    is_word = (flags & (_LETTER | _MARK) != 0) & ~is_latin & ~is_number
    space, latin, number = _members(is_space), _members(is_latin), _members(is_number)
    either, word = _members(is_latin | is_number), _members(is_word)
    spans = [
        rf"[{latin}][{either}]*(?:[.'\x{{2019}}\-][{either}]+)*",
        rf"[{number}]+(?:[.\-][{number}]+)*",
        f"[{word}]+",
        rf"\.[{latin}][{either}]*",
    ]
    if not is_reference:
        spans.insert(0, r"[A-Z](?:\+\+|#)(?![+#])")
    return rf" ?(?:{'|'.join(spans)})|[{space}]+|</|({_ANY})\1*"


def _members(mask: BoolArray) -> str:
    r"""The inside of a character class.

    >>> mask = np.zeros(0x110000, bool)
    >>> mask[[97, 98, 99, 233]] = True
    >>> print(_members(mask))
    \x{61}-\x{63}\x{E9}
    """
    mask = mask.copy()
    mask[0xD800:0xE000] = False  # surrogates are no characters of any valid text
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    parts = []
    for first, end in edges.reshape(-1, 2).tolist():
        parts.append(f"\\x{{{first:X}}}" + (f"-\\x{{{end - 1:X}}}" if end - first > 1 else ""))
    return "".join(parts)
