r"""Patterns and pretokenizers that cut alike, in both directions.

:func:`equivalent_pattern` writes a built-in pretokenizer as a regular expression for Oniguruma
(Hugging Face tokenizers) and fancy-regex (tiktoken). Its matches are exactly the chunks of the
native scanner. A class like ``\p{L}`` would depend on the Unicode version of the other library, and
no engine has a class for "LATIN in its name", so the pattern lists the members of every class from
the scanners' own tables. It uses only syntax that both engines read alike: no ``(?i)``, ``$`` or
possessive quantifiers.

:func:`cut_of_pattern` finds the scanner that a published pattern describes. The package ``regex``
runs any other pattern; its syntax covers what byte-level tokenizers use.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from prunedbpe import _core
from prunedbpe.errors import NotExactError
from prunedbpe.pretokenizers import (
    BUILTIN_PRETOKENIZERS,
    UNICODE_VERSION,
    Pretokenizer,
    find_pretokenizer,
)
from prunedbpe.pretokenizers.foreign_cut import ForeignCut
from prunedbpe.pretokenizers.patterns import PATTERNS
from prunedbpe.types import BoolArray

# The flags of cpp/src/pretokenizers/unicode_tables.hpp.
_UPPER, _LOWER, _UNCASED, _MARK, _NUMBER = 1, 2, 4, 8, 16
_LETTER = _UPPER | _LOWER | _UNCASED
_WHITE_SPACE, _PYTHON_SPACE, _LATIN, _LATER = 1 << 7, 1 << 8, 1 << 9, 1 << 11

_ANY = r"[\x{0}-\x{10FFFF}]"
_CONTRACTION_ANY_CASE = r"'(?:[sSdDmMtT\x{17F}]|[lL][lL]|[vV][eE]|[rR][eE])"

_PUBLISHED = {
    **{pattern: name for name, pattern in PATTERNS.items()},
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s+": "cl100k",
}
"""Built-in pretokenizers by the spellings of their patterns in published tokenizers."""


@lru_cache(maxsize=8)
def equivalent_pattern(pretokenizer: Pretokenizer) -> str:
    r"""Return a pattern whose matches are the chunks of a built-in pretokenizer.

    The matches cover every text.

    Raises:
        NotExactError: The pretokenizer normalizes text, or is a regular expression of the package
            ``regex``, which another engine may read differently.

    >>> equivalent_pattern(Pretokenizer("none"))
    '[\\x{0}-\\x{10FFFF}]+'
    """
    name = pretokenizer.name
    if pretokenizer.normalization is not None:
        raise NotExactError(
            f"the pretokenizer normalizes text to {pretokenizer.normalization}: tiktoken has no "
            "normalization, and Hugging Face tokenizers normalize by an older Unicode version",
            hint="train without normalization, or use the format 'transformers'",
        )
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
    if name in ("cl100k", "llama3", "qwen2"):
        digits = "" if name == "qwen2" else "{1,3}"
        at_the_end = r"|\s+\z" if name == "cl100k" else ""
        return (
            rf"{_CONTRACTION_ANY_CASE}|[^\r\n{letter}{number}]?[{letter}]+|[{number}]{digits}"
            rf"| ?[^\s{letter}{number}]+[\r\n]*{at_the_end}|\s*[\r\n]|\s+(?!\S)|\s"
        )
    if name == "o200k":
        capitals = _members(flags & (_UPPER | _UNCASED | _MARK) != 0)
        smalls = _members(flags & (_LOWER | _UNCASED | _MARK) != 0)
        before, after = rf"[^\r\n{letter}{number}]?", f"(?:{_CONTRACTION_ANY_CASE})?"
        return (
            rf"{before}[{capitals}]*[{smalls}]+{after}|{before}[{capitals}]+[{smalls}]*{after}"
            rf"|[{number}]{{1,3}}| ?[^\s{letter}{number}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    raise NotExactError(
        f"the pretokenizer {pretokenizer.pattern!r} is a regular expression of the package "
        "'regex'; the engine of another library may read it differently",
        hint="train with a built-in pretokenizer, or use the transformers folder",
    )


@lru_cache(maxsize=8)
def javascript_pattern(pretokenizer: Pretokenizer) -> str:
    r"""Return :func:`equivalent_pattern` for JavaScript, with the flags ``gu``.

    Code points are written differently there, and ``\s`` is another set of characters.

    Raises:
        NotExactError: As for :func:`equivalent_pattern`.

    >>> javascript_pattern(Pretokenizer("none"))
    '[\\u{0}-\\u{10FFFF}]+'
    """
    pattern = equivalent_pattern(pretokenizer)
    space = _members(_core.code_point_flags() & _WHITE_SPACE != 0)
    pattern = pattern.replace(r"[^\s", f"[^{space}")
    pattern = pattern.replace(r"\S", f"[^{space}]").replace(r"\s", f"[{space}]")
    return pattern.replace(r"\z", "$").replace(r"\x{", r"\u{")


def cut_of_pattern(pattern: str, unicode_version: str) -> ForeignCut:
    r"""Return how a library of a Unicode version cuts text with this pattern.

    >>> cut_of_pattern(r"\p{L}+|\P{L}+", "16.0.0").pretokenizer.name
    'regex'
    >>> cut_of_pattern(PATTERNS["o200k"], "16.0.0").pretokenizer.name
    'o200k'
    """
    if pattern in _PUBLISHED:
        return ForeignCut(Pretokenizer(_PUBLISHED[pattern]), unicode_version)
    for name in BUILTIN_PRETOKENIZERS:
        # Our own pattern lists every character, so the engine's Unicode version does not matter.
        if pattern == equivalent_pattern(Pretokenizer(name)):
            return ForeignCut(Pretokenizer(name), UNICODE_VERSION)
    return ForeignCut(Pretokenizer("regex", pattern), unicode_version)


def cut_by(pretokenizer: str | Pretokenizer, unicode_version: str) -> ForeignCut:
    """Return how a library of a Unicode version cuts if it cuts like this pretokenizer."""
    if isinstance(pretokenizer, str) and pretokenizer in _PUBLISHED:
        return cut_of_pattern(pretokenizer, unicode_version)  # works without the extra ``regex``
    found = find_pretokenizer(pretokenizer)
    if found.pattern is not None:
        return cut_of_pattern(found.pattern, unicode_version)
    uses_classes_of_its_engine = found.name in _PUBLISHED.values()
    return ForeignCut(found, unicode_version if uses_classes_of_its_engine else UNICODE_VERSION)


def _paper_pattern(*, is_reference: bool) -> str:
    """Mirror cpp/src/pretokenizers/paper.cpp, one alternative for each of its rules."""
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
    r"""Return the inside of a character class.

    >>> mask = np.zeros(0x110000, bool)
    >>> mask[[97, 98, 99, 233]] = True
    >>> print(_members(mask))
    \x{61}-\x{63}\x{E9}
    """
    mask = mask.copy()
    mask[0xD800:0xE000] = False  # valid text holds no surrogates
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    parts = []
    for first, end in edges.reshape(-1, 2).tolist():
        parts.append(f"\\x{{{first:X}}}" + (f"-\\x{{{end - 1:X}}}" if end - first > 1 else ""))
    return "".join(parts)
