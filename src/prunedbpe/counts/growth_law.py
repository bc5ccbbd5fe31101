"""How unique chunks grow with the text, as a law that predicts beyond what was measured.

Unique chunks grow about as a power of the text (Heaps' law), and the exponent declines slowly. The
prediction lets it decline as it did within the measured sizes; with the last exponent kept, the law
gives an upper estimate, but no bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class GrowthLaw:
    """How a quantity grows with the text.

    Attributes:
        sizes: Bytes of text, rising; at least one.
        values: The quantity for each of them, at least 1.
    """

    sizes: tuple[int, ...]
    values: tuple[int, ...]

    def at(self, size: float) -> float:
        """Return the value for a size: interpolated, or predicted with a declining exponent.

        >>> law = GrowthLaw((100, 200, 400, 800), (10, 20, 40, 80))
        >>> round(law.at(300)), round(law.at(1600))
        (30, 160)
        """
        places = np.log(self.sizes)
        distance = math.log(size) - places[-1]
        if distance <= 0:
            return math.exp(np.interp(math.log(size), places, np.log(self.values)))
        exponents = self._exponents()
        decline = self._decline(exponents)
        # The exponent was measured over the last doubling; it belongs to the middle of that.
        exponent = exponents[-1]
        if decline:
            exponent *= math.exp(decline * (places[-1] - places[-2]) / 2)
            distance = math.expm1(decline * distance) / decline
        return self.values[-1] * math.exp(exponent * distance)

    def at_most(self, size: float) -> float:
        """Return the value for a size if the exponent declines no further: an upper estimate."""
        if size <= self.sizes[-1]:
            return self.at(size)
        return float(self.values[-1] * (size / self.sizes[-1]) ** self._exponents()[-1])

    def _exponents(self) -> list[float]:
        """The exponents between neighbouring sizes; 1 if there is only one size."""
        if len(self.sizes) == 1:
            return [1.0]
        slopes = np.diff(np.log(self.values)) / np.diff(np.log(self.sizes))
        return [min(max(float(slope), 0.001), 1.0) for slope in slopes]

    def _decline(self, exponents: Sequence[float]) -> float:
        """By which factor the exponent shrinks when the text grows by e, as a logarithm."""
        if len(exponents) < 3:
            return 0.0
        places = np.log(self.sizes)
        between = (places[-1] + places[-2] - places[-3] - places[-4]) / 2
        return min(math.log(exponents[-1] / exponents[-3]) / float(between), 0.0)
