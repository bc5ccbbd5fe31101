r"""Named and versioned pretokenizers: look one up, describe it for a file, cut text with it.

In: a text. Out: its chunks, the pieces that merges never cross; joined, they are the text. The
built-in pretokenizers are native scanners, exact and linear in the length of the text:

========== =======================================================================================
paper      the rules of the paper: Latin words with their inner ``.'’-``, digits, other words
reference  as the implementation released with the paper: without the rule for ``C++`` and ``C#``,
           and with the characters of Unicode 14.0 (a later character belongs to no class)
gpt2       equal to :data:`~prunedbpe.pretokenizers.patterns.GPT2_PATTERN`
cl100k     equal to :data:`~prunedbpe.pretokenizers.patterns.CL100K_PATTERN`
llama3     equal to :data:`~prunedbpe.pretokenizers.patterns.LLAMA3_PATTERN`
qwen2      equal to :data:`~prunedbpe.pretokenizers.patterns.QWEN2_PATTERN`
o200k      equal to :data:`~prunedbpe.pretokenizers.patterns.O200K_PATTERN`
none       a document is one chunk
========== =======================================================================================

Any other pretokenizer is a regular expression of the package ``regex`` (the extra
``prunedbpe[regex]``): its matches are chunks, and so is the text between two matches. A
``sequence`` cuts by several pretokenizers, each of which cuts the pieces of the one before it;
imported tokenizers use it.

A pretokenizer may ask for Unicode normalization (NFC). Text is then normalized before it is cut,
in training and in encoding alike, because both use the same pretokenizer.
"""

from __future__ import annotations

import difflib
import importlib
import math
import re
import unicodedata
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from prunedbpe import _core
from prunedbpe._support.arguments import check_text
from prunedbpe._support.json_values import JsonValue, shown
from prunedbpe.errors import FormatError, MissingExtraError, PrunedBPEError, SettingsError
from prunedbpe.types import ByteArray, Int64Array, Settings

BUILTIN_PRETOKENIZERS = (
    "paper",
    "reference",
    "gpt2",
    "cl100k",
    "llama3",
    "qwen2",
    "o200k",
    "none",
)
"""The names :func:`find_pretokenizer` knows; the first is the default everywhere."""

UNICODE_VERSION: str = _core.unicode_version()
"""Version of the Unicode data of the built-in pretokenizers."""

_INDEPENDENT_OF_UNICODE_VERSION = ("reference", "none")

Normalization = Literal["NFC"]

MOST_REPEATS = 10_000
"""Limit of the product of all minimum repeat counts in a pattern, as the 3 in ``a{3,}``."""

_REPEAT = re.compile(r"\{(\d+)(?:,\d*)?\}")
_RECURSION = re.compile(r"\(\?(?:R|[+-]?\d|&|P>)")

# A pattern that takes exponential time usually does so on repeated characters before a mismatch.
# Only these texts have a time limit: it makes matching four times as slow.
_PROBES = (
    "aA1 .\n'é中" * 8,
    *(character * 48 + end for character in "aA1 \n.'" for end in "!a"),
)
_PROBE_SECONDS = 0.5


@dataclass(frozen=True)
class Pretokenizer:
    """One way to cut text; the same object serves training, encoding and evaluation.

    Attributes:
        name: One of :data:`BUILTIN_PRETOKENIZERS`, ``regex`` or ``sequence``.
        pattern: The regular expression of ``regex``; ``None`` for a built-in pretokenizer.
        unicode_version: Unicode version that decides the classes of a built-in pretokenizer.
        normalization: Unicode normal form that text is brought to first; ``None`` leaves it alone.
        steps: The pretokenizers of ``sequence``, each of which cuts the pieces of the one before.
    """

    name: str
    pattern: str | None = None
    unicode_version: str = UNICODE_VERSION
    normalization: Normalization | None = None
    steps: tuple[Pretokenizer, ...] = ()

    def __post_init__(self) -> None:
        self._check_steps()
        if self.name == "regex":
            if self.pattern is None:
                raise SettingsError("the pretokenizer 'regex' needs a pattern")
            _compile(self.pattern)
        elif self.name not in (*BUILTIN_PRETOKENIZERS, "sequence"):
            raise _unknown_name(self.name)
        elif self.pattern is not None:
            raise SettingsError(f"the built-in pretokenizer {self.name!r} takes no pattern")
        if self.normalization not in (None, *get_args(Normalization)):
            raise SettingsError(
                f"normalization {self.normalization!r} is not supported", hint="use NFC or None"
            )

    def _check_steps(self) -> None:
        if (self.name == "sequence") != bool(self.steps):
            raise SettingsError("the pretokenizer 'sequence', and no other, consists of steps")
        for step in self.steps:
            if step.steps or step.normalization is not None:
                raise SettingsError(
                    "a step of the pretokenizer 'sequence' is no sequence, and does not normalize"
                )

    @property
    def is_native(self) -> bool:
        """Whether native code can cut with it, by its name."""
        return self.pattern is None and not self.steps

    def normalize(self, text: str) -> str:
        """Return the text that is cut: normalized if the pretokenizer asks for it.

        >>> Pretokenizer("paper", normalization="NFC").normalize("e\u0301") == "é"
        True
        """
        if self.normalization is None or text.isascii():
            return text
        return unicodedata.normalize(self.normalization, text)

    def split(self, text: str) -> list[str]:
        """Cut a text into its chunks.

        Args:
            text: Any text without lone surrogates.

        Returns:
            The chunks in order; joined, they are ``text``, normalized.

        Raises:
            PrunedBPEError: The text holds a lone surrogate, which UTF-8 cannot express.

        >>> Pretokenizer("paper").split("Node.js costs 3.14")
        ['Node.js', ' costs', ' 3.14']
        """
        text = self.normalize(text)
        data = _encode(text)
        if self.pattern is not None:
            return _slices(text, _match_ends(self.pattern, text))
        ends = self.chunk_ends(data).tolist()
        if len(data) == len(text):  # ASCII: byte offsets are character offsets
            return _slices(text, ends)
        return [chunk.decode() for chunk in _slices(data, ends)]

    def chunk_ends(self, text: bytes | ByteArray) -> Int64Array:
        """Cut a normalized text given as UTF-8, without copying the chunks.

        Args:
            text: UTF-8, as ``bytes`` or an array of bytes.

        Returns:
            The end of every chunk, in bytes from the start of the text.

        >>> Pretokenizer("paper").chunk_ends("中文 abc".encode()).tolist()
        [6, 10]
        """
        data = np.frombuffer(text, np.uint8) if isinstance(text, bytes) else text
        if self.steps:
            return self.sequence_ends([data] * len(self.steps))
        if self.pattern is None:
            return _core.chunk_ends(data, self.name)
        try:
            decoded = data.tobytes().decode()
        except UnicodeDecodeError as error:
            raise PrunedBPEError(
                f"the text is not UTF-8: byte 0x{error.object[error.start]:02x} "
                f"at position {error.start}"
            ) from error
        return _byte_offsets(decoded, _match_ends(self.pattern, decoded))

    def sequence_ends(self, texts: Sequence[ByteArray]) -> Int64Array:
        """Cut by the first step, then every piece by the second, and so on.

        Args:
            texts: What each step reads in place of the text; all have its length.
        """
        ends = self.steps[0].chunk_ends(texts[0])
        for step, data in zip(self.steps[1:], texts[1:], strict=True):
            begins = [0, *ends.tolist()]
            pieces = [begin + step.chunk_ends(data[begin:end]) for begin, end in pairwise(begins)]
            ends = np.concatenate(pieces) if pieces else ends
        return ends

    def describe(self) -> Settings:
        """Return what a settings file must hold to find this pretokenizer again.

        >>> Pretokenizer("gpt2", unicode_version="18.0.0").describe()
        {'name': 'gpt2', 'unicode_version': '18.0.0'}
        """
        settings: Settings = {"name": self.name}
        if self.steps:
            settings["steps"] = [step.describe() for step in self.steps]
        elif self.pattern is None:
            settings["unicode_version"] = self.unicode_version
        else:  # the installed package `regex` decides the classes of a pattern
            settings["pattern"] = self.pattern
        if self.normalization is not None:
            settings["normalization"] = self.normalization
        return settings

    @classmethod
    def from_settings(cls, settings: Settings, place: str = "pretokenizer") -> Pretokenizer:
        """Return the pretokenizer that :meth:`describe` described.

        Warns if the file was written with another Unicode version: characters assigned between the
        two versions may be cut differently, all others are not.

        Args:
            settings: What :meth:`describe` returned.
            place: The key of the settings in their file, for error messages.

        Raises:
            FormatError: The settings are damaged, or name a pretokenizer this version lacks.
        """
        fields = JsonValue(settings, place)
        name = fields["name"].text()
        pattern = fields["pattern"].text() if fields["pattern"] else None
        version = fields["unicode_version"].text() if fields["unicode_version"] else UNICODE_VERSION
        if not re.fullmatch(r"\d+\.\d+\.\d+", version, re.ASCII):
            raise fields["unicode_version"].error("a Unicode version")
        steps = tuple(
            cls.from_settings(step.object(), step.path) for step in fields["steps"].items()
        )
        try:
            pretokenizer = cls(
                name, pattern, normalization=fields["normalization"].value, steps=steps
            )
        except SettingsError as error:
            raise FormatError(f"{place}: {error.message}", hint=error.hint) from error
        if version != UNICODE_VERSION and name not in _INDEPENDENT_OF_UNICODE_VERSION:
            warnings.warn(
                f"pretokenizer {name!r} was saved with Unicode {version} and now uses Unicode "
                f"{UNICODE_VERSION}: characters assigned in between may be cut differently",
                stacklevel=2,
            )
        return pretokenizer


def find_pretokenizer(
    spec: str | Pretokenizer, normalization: Normalization | None = None
) -> Pretokenizer:
    r"""Look up a pretokenizer.

    Args:
        spec: A built-in name, a regular expression, or a pretokenizer, which is returned as it is.
            A string of only letters, digits, ``_`` and ``-`` is always a name.
        normalization: Unicode normal form to bring text to first, for a name or an expression.

    Raises:
        SettingsError: There is no such name, or the regular expression is invalid.
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
        return Pretokenizer(spec, normalization=normalization)
    if re.fullmatch(r"[\w-]*", spec):
        raise _unknown_name(spec)
    return Pretokenizer("regex", spec, normalization=normalization)


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
    check_text(text)
    return find_pretokenizer(pretokenizer).split(text)


def _unknown_name(name: str) -> SettingsError:
    close = difflib.get_close_matches(name[:40], BUILTIN_PRETOKENIZERS, n=1)
    return SettingsError(
        f"no pretokenizer is named {shown(name)}; there are {', '.join(BUILTIN_PRETOKENIZERS)}",
        hint=f"did you mean {close[0]!r}?"
        if close
        else "a regular expression needs a character that no name has, as in '(?:abc)'",
    )


@lru_cache(maxsize=32)
def _compile(pattern: str) -> Any:
    """Compile a pattern with the package ``regex``, which has no types.

    A pattern may come from a file of someone else. It must not take all memory or all time.
    """
    try:
        regex: Any = importlib.import_module("regex")
    except ImportError as error:
        raise MissingExtraError("regex", "regex", "A pretokenizer by regular expression") from error
    repeats = math.prod(max(1, int(count[:9])) for count in _REPEAT.findall(pattern))
    if repeats > MOST_REPEATS:  # the package would unroll them
        raise _bad_pattern(pattern, f"its repeat counts multiply to more than {MOST_REPEATS}")
    if _RECURSION.search(pattern):
        raise _bad_pattern(pattern, "it calls itself, which may never end")
    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise _bad_pattern(pattern, f"{error.msg} at position {error.pos}") from error
    except RecursionError as error:
        raise _bad_pattern(pattern, "it is too deeply nested") from error
    if compiled.flags & regex.REVERSE:
        raise _bad_pattern(pattern, "it searches backwards")
    for text in _PROBES:
        try:
            compiled.findall(text, timeout=_PROBE_SECONDS)
        except TimeoutError as error:
            raise _bad_pattern(
                pattern, f"it takes over {_PROBE_SECONDS} s for the text {shown(text)}"
            ) from error
    return compiled


def _bad_pattern(pattern: str, reason: str) -> SettingsError:
    return SettingsError(
        f"the pretokenizer {shown(pattern)} is not a valid regular expression: {reason}",
        hint=f"the built-in pretokenizers are {', '.join(BUILTIN_PRETOKENIZERS)}",
    )


def _match_ends(pattern: str, text: str) -> list[int]:
    """Ends of the matches and of the gaps between them; empty matches are ignored."""
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
    """Convert character offsets, none of them 0, to byte offsets in UTF-8."""
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
