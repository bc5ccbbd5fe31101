"""The paper's rule: exposure and a threshold decide which tokens are visible.

In: the exposures of all learned tokens and the budgets. Out: the visibility of every learned token.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil

from prunedbpe.arrays import np
from prunedbpe.errors import SettingsError
from prunedbpe.types import BYTE_COUNT, ByteArray, Int64Array, Visibility


@dataclass(frozen=True)
class Threshold:
    """How much exposure a visible token needs: a ratio of the boundary frequency, or a count.

    The ratio is kept exact (0.30 of 40 is 12, which binary floats miss).

    Attributes:
        text: As a user writes it: ``40%``, ``750`` or ``0``.
        ratio: Share of the boundary token's frequency, or ``None``.
        count: The exposure itself, or ``None``.
    """

    text: str
    ratio: Fraction | None = None
    count: int | None = None

    @classmethod
    def parse(cls, value: str | int | float | Threshold) -> Threshold:
        """Read a threshold: ``"40%"`` or ``0.4`` is a ratio, ``750`` a count, ``0`` Standard BPE.

        >>> Threshold.parse("40%").min_exposure(boundary_frequency=41)
        17
        >>> Threshold.parse(0.3).min_exposure(boundary_frequency=40)
        12
        >>> Threshold.parse(750).min_exposure(boundary_frequency=40)
        750
        """
        if isinstance(value, Threshold):
            return value
        text = str(value).strip()
        try:
            if text.endswith("%"):
                parsed = cls(text, ratio=Fraction(text[:-1]) / 100)
            elif isinstance(value, float):
                percent = f"{Decimal(text) * 100:f}"
                percent = percent.rstrip("0").rstrip(".") if "." in percent else percent
                parsed = cls(f"{percent}%", ratio=Fraction(text))
            else:
                parsed = cls(text, count=int(text))
        except (ValueError, ArithmeticError):
            raise SettingsError(
                f"threshold {value!r} is neither a ratio nor a count",
                hint="write a share such as 40%, a count such as 750, or 0 for Standard BPE",
            ) from None
        if (parsed.ratio or 0) < 0 or (parsed.count or 0) < 0:
            raise SettingsError(f"threshold {value!r} is negative", hint="0 keeps every token")
        return parsed

    def min_exposure(self, boundary_frequency: int) -> int:
        """The count it comes to, given the frequency of the last token of Standard BPE."""
        if self.ratio is not None:
            return ceil(self.ratio * boundary_frequency)
        assert self.count is not None
        return self.count


def required_tokens(vocab_size: int, special_tokens: tuple[str, ...]) -> int:
    """How many learned tokens are to be visible.

    >>> required_tokens(1000, ("<_EOS_>",))
    743
    """
    required = vocab_size - BYTE_COUNT - len(special_tokens)
    if required < 0:
        least = BYTE_COUNT + len(special_tokens)
        raise SettingsError(
            f"vocab_size={vocab_size} has no room for {BYTE_COUNT} bytes "
            f"and {len(special_tokens)} special tokens",
            hint=f"use {least} or more",
        )
    return required


def decide_visibility(exposures: Int64Array, required: int, min_exposure: int) -> ByteArray:
    """Scan learned tokens in merge order until ``required`` are visible.

    Args:
        exposures: Exposure of every learned token, in merge order, without the bytes.
        required: How many are to be visible; at least so many have the exposure.
        min_exposure: The exposure a visible token needs.

    Returns:
        A :class:`~prunedbpe.types.Visibility` for every learned token.

    >>> decide_visibility(np.array([9, 1, 5, 7]), required=2, min_exposure=5).tolist()
    [0, 1, 0, 2]
    """
    eligible = exposures >= min_exposure
    visibility = np.where(eligible, Visibility.VISIBLE, Visibility.INTERNAL).astype(np.uint8)
    retained = int(np.searchsorted(np.cumsum(eligible), required)) + 1 if required else 0
    visibility[retained:] = Visibility.DISCARDED
    return visibility
