"""Cut text as a library with another Unicode version does.

The scanners know one Unicode version. A library with an older version does not treat a letter that
was assigned since as a letter. So before cutting, replace every character whose class differs
between the two versions by a stand-in: a character of the same length in UTF-8 that both versions
put in the older class. The cuts of the replaced text are those of the library. Such characters are
rare.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from prunedbpe._support.json_values import JsonValue, shown
from prunedbpe.errors import SettingsError
from prunedbpe.pretokenizers.pretokenizer import UNICODE_VERSION, Pretokenizer
from prunedbpe.pretokenizers.unicode_changes import CHANGES
from prunedbpe.types import BoolArray, ByteArray, Int64Array, Settings

STOCK_UNICODE_VERSION = "16.0.0"
"""The version of tokenizers 0.23 and tiktoken 0.14, found by testing every code point."""

# For each class, stand-ins of two, three and four bytes that belong to it since Unicode 15.0.
_STAND_INS = {
    "u": "ÀḀ𝐀",
    "l": "éḁ𝐚",
    "c": "ªक𐀀",
    "m": "\u0301\u1dc4\U0001d165",
    "n": "²①𐄇",
    "p": "¡…𐄀",
    "s": "¢€𝄀",
    "o": "\x80\ue000\U000f0000",
}

# The normalizers of Hugging Face tokenizers know the combining marks of Unicode 9.0. They leave a
# later mark, or a letter composed of later ones, as it is, and neither reorder nor compose across
# it. Found by testing every code point with tokenizers 0.23.
_UNKNOWN_TO_NFC = """
    5C8-5C9 7FD 897-89F 8CA-8D3 9FE C3C D3B-D3C EBA 1715 1ABF-1AF0 1DF6-1DFA A82C 105C9 105D2
    105DA 105E4 10D24-10D27 10D69-10D6D 10EAB-10EAC 10ECB-10ECF 10EF0-10EFB 10EFD-10EFF
    10F46-10F50 10F82-10F85 11070 1133B 11382-11385 1138B 1138E 11390-11391 113C2 113C5
    113C7-113C8 113CE-113D0 1145E 11839-1183A 11935 11938 1193D-1193E 11943 119E0 11A34 11A47
    11A99 11D42 11D44-11D45 11D97 11F41-11F42 1611E 16121-16129 1612F 16D63 16D67-16D6A
    16FF0-16FF1 1D127-1D128 1D250-1D252 1D25B-1D25C 1D25F 1D280-1D281 1E08F 1E130-1E136 1E2AE
    1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF 1E6E3 1E6E6 1E6EE-1E6EF 1E6F5
"""

# NFKC leaves these as they are, too: their decompositions are later than Unicode 9.0.
_UNKNOWN_TO_NFKC = f"""
    {_UNKNOWN_TO_NFC}
    A7F1-A7F4 AB69 10781-10785 10787-107B0 107B2-107BF 1CCD6-1CCF9 1E030-1E06D 1F16C 1FBF0-1FBF9
    209D-209F 32FF 58B-58C 1B123-1B126 1D6A6 1DF95 1DFCD-1DFFF
"""

_JOINED_SIZE = 1 << 20  # characters

Normalization = Literal["NFC", "NFKC"]

_NORMALIZATIONS: dict[Normalization, str] = {"NFC": _UNKNOWN_TO_NFC, "NFKC": _UNKNOWN_TO_NFKC}
"""The characters that each supported normalization leaves alone."""


@dataclass(frozen=True)
class ForeignCut:
    """How an imported tokenizer cuts text.

    Attributes:
        pretokenizer: The pretokenizer that cuts.
        unicode_version: The Unicode version that decides the classes of characters.
        normalization: ``"NFC"`` or ``"NFKC"`` if the original normalizes text first, else ``None``.
        step_versions: The Unicode version of each step of a sequence; by default the same for all.
    """

    pretokenizer: Pretokenizer
    unicode_version: str = STOCK_UNICODE_VERSION
    normalization: Normalization | None = None
    step_versions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for version in (self.unicode_version, *self.step_versions):
            check_unicode_version(version)
        if self.normalization not in (None, *_NORMALIZATIONS):
            raise SettingsError(
                f"normalization {shown(self.normalization)} is not supported",
                hint="use NFC, NFKC or None",
            )
        if self.step_versions and len(self.step_versions) != len(self.pretokenizer.steps):
            raise SettingsError("'step_versions' must name a Unicode version for each step")
        if self.pretokenizer.normalization is not None:
            raise SettingsError(
                "an imported tokenizer normalizes text as its original does",
                hint="give a pretokenizer without normalization",
            )

    def normalized(self, text: str) -> str:
        """Return the text that is cut."""
        form = self.normalization
        # If a text is normalized, so is every part of it.
        if form is None or text.isascii() or unicodedata.is_normalized(form, text):
            return text
        # The pattern captures, so the characters to leave alone are at odd places.
        parts = _unknown_to(form).split(text)
        return "".join(
            part if place % 2 else unicodedata.normalize(form, part)
            for place, part in enumerate(parts)
        )

    def are_plain(self, texts: Iterable[str]) -> bool:
        """Whether the scanner cuts these texts, unchanged, as the original library does.

        ``False`` may also mean that only a closer look would tell.
        """
        return all(map(self._is_plain, _joined(text for text in texts if not text.isascii())))

    def _is_plain(self, text: str) -> bool:
        unusual = _unusual(self.unicode_version, self.normalization)
        if unusual[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)].any():
            return False
        # Without characters to leave alone, it is the standard's normalization.
        return self.normalization is None or unicodedata.is_normalized(self.normalization, text)

    def chunk_ends(self, text: str) -> Int64Array:
        """Return the end of every chunk of a normalized text, in bytes of UTF-8.

        >>> cut = ForeignCut(Pretokenizer("gpt2"), "16.0.0")
        >>> cut.chunk_ends("a\u0558").tolist()  # a letter of Unicode 18.0
        [1, 3]
        """
        steps = self.pretokenizer.steps
        if not steps:
            return self.pretokenizer.chunk_ends(_as_known(text, self.unicode_version))
        versions = self.step_versions or (self.unicode_version,) * len(steps)
        return self.pretokenizer.sequence_ends([_as_known(text, version) for version in versions])

    def replacements(self) -> list[tuple[int, int, str]]:
        r"""Return the characters that are replaced before cutting: ranges and their stand-ins.

        A stand-in has the length of the character in UTF-8 and in UTF-16.

        >>> ForeignCut(Pretokenizer("gpt2"), "15.0.0").replacements()[:2]
        [(661, 661, 'é'), (1368, 1368, '\x80')]
        """
        return [
            (first, last, _stand_in(first, group))
            for first, last, group in CHANGES[self.unicode_version]
        ]

    def describe(self) -> Settings:
        """Return what a settings file must hold to cut like this again."""
        return {
            "pretokenizer": self.pretokenizer.describe(),
            "unicode_version": self.unicode_version,
            "normalization": self.normalization,
            **({"step_versions": list(self.step_versions)} if self.step_versions else {}),
        }

    @classmethod
    def from_settings(cls, settings: Settings) -> ForeignCut:
        """Return the cut that :meth:`describe` described.

        Raises:
            FormatError: A value has the wrong type; the message names its key.
            SettingsError: The Unicode version or the normalization is unknown.
        """
        fields = JsonValue(settings, "cut")
        return cls(
            Pretokenizer.from_settings(fields["pretokenizer"].object(), "cut.pretokenizer"),
            fields["unicode_version"].text(),
            fields["normalization"].value,
            tuple(version.text() for version in fields["step_versions"].items()),
        )


def check_unicode_version(version: str) -> None:
    """Refuse a Unicode version that the library has no table of changes for."""
    if version not in CHANGES:
        raise SettingsError(
            f"Unicode {shown(version)} is not supported",
            hint=f"use one of {', '.join(sorted(CHANGES))}",
        )


def _as_known(text: str, version: str) -> ByteArray:
    """Return the text in UTF-8, with a stand-in for every character that changed class."""
    changed, stand_ins = _changed(version)
    if changed is not None and not text.isascii():
        text = changed.sub(lambda found: stand_ins[found.group()], text)
    return np.frombuffer(text.encode(), np.uint8)


@lru_cache(maxsize=8)
def _changed(version: str) -> tuple[re.Pattern[str] | None, dict[str, str]]:
    """Return a pattern of the characters that changed class, and their stand-ins."""
    assert CHANGES[UNICODE_VERSION] == ()
    if not CHANGES[version]:
        return None, {}
    stand_ins = {}
    members = []
    for first, last, group in CHANGES[version]:
        members.append(f"\\U{first:08x}-\\U{last:08x}")
        for point in range(first, last + 1):
            stand_ins[chr(point)] = _stand_in(point, group)
    return re.compile(f"[{''.join(members)}]"), stand_ins


def _stand_in(point: int, group: str) -> str:
    return _STAND_INS[group][(point >= 0x800) + (point >= 0x10000)]


@lru_cache(maxsize=8)
def _unusual(version: str, normalization: Normalization | None) -> BoolArray:
    """Return, for every code point, whether a text with it needs a closer look."""
    found = np.zeros(sys.maxunicode + 1, bool)
    for first, last, _ in CHANGES[version]:
        found[first : last + 1] = True
    for first, last in _left_alone(normalization) if normalization is not None else ():
        found[first : last + 1] = True
    return found


def _joined(texts: Iterable[str]) -> Iterator[str]:
    """Join texts to some long ones.

    >>> list(_joined(["a", "b"]))
    ['ab']
    """
    parts: list[str] = []
    size = 0
    for text in texts:
        parts.append(text)
        size += len(text)
        if size >= _JOINED_SIZE:
            yield "".join(parts)
            parts, size = [], 0
    if parts:
        yield "".join(parts)


def _left_alone(normalization: Normalization) -> Iterator[tuple[int, int]]:
    """Yield the ranges of characters that a normalization leaves alone."""
    for word in _NORMALIZATIONS[normalization].split():
        first, _, last = word.partition("-")
        yield int(first, 16), int(last or first, 16)


@lru_cache(maxsize=2)
def _unknown_to(normalization: Normalization) -> re.Pattern[str]:
    members = [f"\\U{first:08x}-\\U{last:08x}" for first, last in _left_alone(normalization)]
    return re.compile(f"([{''.join(members)}])")
