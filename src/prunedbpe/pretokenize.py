r"""Named and versioned pretokenizers: look one up, describe it for a file, cut text with it.

In goes a text, out come its chunks, the pieces that merges never cross; joined, they are the text.
The built-in pretokenizers are native scanners, exact and linear in the length of the text:

========== =======================================================================================
paper      the rules of the paper: Latin words with their inner ``.'’-``, digits, other words
reference  as the implementation released with the paper: without the rule for ``C++`` and ``C#``,
           and with the characters of Unicode 14.0 (a later character belongs to no class)
gpt2       equal to :data:`GPT2_PATTERN`
cl100k     equal to :data:`CL100K_PATTERN`
o200k      equal to :data:`O200K_PATTERN`
none       a document is one chunk
========== =======================================================================================

Any other pretokenizer is a regular expression of the package ``regex`` (the extra
``prunedbpe[regex]``): its matches are chunks, and so is whatever lies between two matches.
"""

from __future__ import annotations

import importlib
import re
import warnings
from functools import lru_cache
from typing import Any

from prunedbpe import _core
from prunedbpe.arrays import np
from prunedbpe.errors import FormatError, MissingExtraError, PrunedBPEError, SettingsError
from prunedbpe.records import record
from prunedbpe.types import ByteArray, Int64Array, Settings

BUILTIN_PRETOKENIZERS = ("paper", "reference", "gpt2", "cl100k", "o200k", "none")
"""The names :func:`find_pretokenizer` knows; the first is the default everywhere."""

UNICODE_VERSION: str = _core.unicode_version()
"""Version of the Unicode data behind the built-in pretokenizers."""

GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
"""Definition of ``gpt2``: the pattern of the public GPT-2 encoding (also r50k and p50k)."""

CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
r"""Definition of ``cl100k``: the pattern of the public encoding cl100k_base.

An older published form lacks ``\s++$``: it cuts the white space at the end of a text behind its
last line break, where this one keeps it whole. Elsewhere the two are the same.
"""

O200K_PATTERN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
"""Definition of ``o200k``: the pattern of the public encoding o200k_base."""

_INDEPENDENT_OF_UNICODE_VERSION = ("reference", "none")


@record(frozen=True)
class Pretokenizer:
    """One way to cut text; the same object serves training, encoding and evaluation.

    Attributes:
        name: One of :data:`BUILTIN_PRETOKENIZERS`, or ``regex``.
        pattern: The regular expression of ``regex``; ``None`` for a built-in pretokenizer.
        unicode_version: The Unicode data a built-in pretokenizer cuts by.
    """

    name: str
    pattern: str | None = None
    unicode_version: str = UNICODE_VERSION

    def __post_init__(self) -> None:
        if self.name == "regex":
            if self.pattern is None:
                raise SettingsError("the pretokenizer 'regex' needs a pattern")
            _compile(self.pattern)
        elif self.name not in BUILTIN_PRETOKENIZERS:
            raise _unknown_name(self.name)
        elif self.pattern is not None:
            raise SettingsError(f"the built-in pretokenizer {self.name!r} takes no pattern")

    @property
    def is_native(self) -> bool:
        """Whether native code can cut with it, by its name."""
        return self.pattern is None

    def split(self, text: str) -> list[str]:
        """Cut a text into its chunks.

        Args:
            text: Any text without lone surrogates.

        Returns:
            The chunks in order; joined, they are ``text``.

        Raises:
            PrunedBPEError: The text holds a lone surrogate, which no UTF-8 can express.

        >>> Pretokenizer("paper").split("Node.js costs 3.14")
        ['Node.js', ' costs', ' 3.14']
        """
        data = _encode(text)
        if self.pattern is not None:
            return _slices(text, _match_ends(self.pattern, text))
        ends = _core.chunk_ends(np.frombuffer(data, np.uint8), self.name).tolist()
        if len(data) == len(text):  # ASCII: offsets in bytes are offsets in characters
            return _slices(text, ends)
        return [chunk.decode() for chunk in _slices(data, ends)]

    def chunk_ends(self, text: bytes | ByteArray) -> Int64Array:
        """Cut a text given as UTF-8, without copying the chunks.

        Args:
            text: UTF-8, as ``bytes`` or an array of bytes.

        Returns:
            The end of every chunk, in bytes from the start of the text.

        >>> Pretokenizer("paper").chunk_ends("中文 abc".encode()).tolist()
        [6, 10]
        """
        data = np.frombuffer(text, np.uint8) if isinstance(text, bytes) else text
        if self.pattern is None:
            ends: Int64Array = _core.chunk_ends(data, self.name)
            return ends
        try:
            decoded = data.tobytes().decode()
        except UnicodeDecodeError as error:
            raise PrunedBPEError(
                f"the text is not UTF-8: byte 0x{error.object[error.start]:02x} "
                f"at position {error.start}"
            ) from error
        return _byte_offsets(decoded, _match_ends(self.pattern, decoded))

    def describe(self) -> Settings:
        """What a settings file must hold to find this pretokenizer again.

        >>> Pretokenizer("gpt2", unicode_version="18.0.0").describe()
        {'name': 'gpt2', 'unicode_version': '18.0.0'}
        """
        if self.pattern is not None:
            # The characters of a pattern's classes are up to the installed package `regex`.
            return {"name": self.name, "pattern": self.pattern}
        return {"name": self.name, "unicode_version": self.unicode_version}

    @classmethod
    def from_settings(cls, settings: Settings) -> Pretokenizer:
        """The pretokenizer that :meth:`describe` described.

        Warns when the file was written with another Unicode version: characters assigned in between
        may be cut otherwise, all others are not.

        Raises:
            FormatError: The settings are damaged, or name a pretokenizer this version lacks.
        """
        name, pattern = settings.get("name"), settings.get("pattern")
        version = settings.get("unicode_version", UNICODE_VERSION)
        if (
            not isinstance(name, str)
            or not isinstance(version, str)
            or not isinstance(pattern, str | None)
        ):
            raise FormatError(f"the settings of the pretokenizer make no sense: {settings!r}")
        try:
            pretokenizer = cls(name, pattern)
        except SettingsError as error:
            raise FormatError(
                f"the settings of the pretokenizer make no sense: {error.message}", hint=error.hint
            ) from error
        if version != UNICODE_VERSION and name not in _INDEPENDENT_OF_UNICODE_VERSION:
            warnings.warn(
                f"pretokenizer {name!r} was saved with Unicode {version} and now cuts by Unicode "
                f"{UNICODE_VERSION}: characters assigned in between may be cut otherwise",
                stacklevel=2,
            )
        return pretokenizer


def find_pretokenizer(spec: str | Pretokenizer) -> Pretokenizer:
    r"""Look up a pretokenizer.

    Args:
        spec: A built-in name, a regular expression, or a pretokenizer, which is returned as it is.
            A string of letters, digits, ``_`` and ``-`` alone is always taken for a name.

    Raises:
        SettingsError: There is no such name, or the regular expression is wrong.
        MissingExtraError: A regular expression needs the package ``regex``.

    >>> find_pretokenizer("paper").name
    'paper'
    >>> find_pretokenizer(r"\w+|\s+").name
    'regex'
    """
    if isinstance(spec, Pretokenizer):
        return spec
    if not isinstance(spec, str):
        raise SettingsError(f"a pretokenizer is a name or a regular expression, not {spec!r}")
    if spec in BUILTIN_PRETOKENIZERS:
        return Pretokenizer(spec)
    if re.fullmatch(r"[\w-]*", spec):
        raise _unknown_name(spec)
    return Pretokenizer("regex", spec)


def pretokenize(text: str, pretokenizer: str | Pretokenizer = "paper") -> list[str]:
    r"""Cut a text into chunks, the pieces that merges never cross.

    Args:
        text: Any text without lone surrogates.
        pretokenizer: A built-in name, a regular expression, or a pretokenizer.

    Returns:
        The chunks in order; joined, they are ``text``.

    >>> pretokenize("I don't like C++!!")
    ['I', " don't", ' like', ' C++', '!!']
    >>> pretokenize("a1, b2", r"[a-z]\d")
    ['a1', ', ', 'b2']
    """
    return find_pretokenizer(pretokenizer).split(text)


def _unknown_name(name: str) -> SettingsError:
    import difflib  # for a mistake alone

    close = difflib.get_close_matches(name, BUILTIN_PRETOKENIZERS, n=1)
    return SettingsError(
        f"no pretokenizer is named {name!r}; there are {', '.join(BUILTIN_PRETOKENIZERS)}",
        hint=f"did you mean {close[0]!r}?"
        if close
        else "a regular expression has at least one character that no name has, as in '(?:abc)'",
    )


@lru_cache(maxsize=32)
def _compile(pattern: str) -> Any:
    """The compiled pattern of the package ``regex``, which has no types."""
    try:
        regex: Any = importlib.import_module("regex")
    except ImportError as error:
        raise MissingExtraError("regex", "regex", "A pretokenizer by regular expression") from error
    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise SettingsError(
            f"the pretokenizer {pattern!r} is no valid regular expression: {error.msg} "
            f"at position {error.pos}",
            hint=f"the built-in pretokenizers are {', '.join(BUILTIN_PRETOKENIZERS)}",
        ) from error


def _match_ends(pattern: str, text: str) -> list[int]:
    """Ends of the matches and of the gaps around them; matches of no character are ignored."""
    ends = []
    last = 0
    for match in _compile(pattern).finditer(text):
        start, end = match.span()
        if start == end:
            continue
        if start > last:
            ends.append(start)
        ends.append(end)
        last = end
    if last < len(text):
        ends.append(len(text))
    return ends


def _byte_offsets(text: str, ends: list[int]) -> Int64Array:
    """Offsets in characters, none of them 0, as offsets in the bytes of UTF-8."""
    positions = np.array(ends, np.int64)
    if text.isascii():
        return positions
    code_points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    widths = np.ones(len(code_points), np.int64)
    for first_of_next_width in (0x80, 0x800, 0x10000):
        widths += code_points >= first_of_next_width
    offsets: Int64Array = np.cumsum(widths)[positions - 1]
    return offsets


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        surrogate = ord(text[error.start])
        raise PrunedBPEError(
            f"the text holds a lone surrogate, U+{surrogate:04X}, at position {error.start}",
            hint="decode its source with errors='replace', or replace the surrogates",
        ) from error


def _slices(sequence: Any, ends: list[int]) -> list[Any]:
    return [sequence[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
