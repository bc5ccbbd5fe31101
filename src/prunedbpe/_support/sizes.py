"""Sizes in bytes, as people write them: ``4GB``, ``512 MiB``, ``1e9``."""

from __future__ import annotations

import re

from prunedbpe.errors import SettingsError

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?", re.ASCII | re.IGNORECASE)


def parse_size(text: str | int, name: str) -> int:
    """Read a size.

    Args:
        text: A number of bytes, or a number and a unit: kB, MB, GB, TB, or KiB, MiB, GiB, TiB.
        name: The option, for the error.

    Raises:
        SettingsError: It is not a size of one byte or more.

    >>> parse_size("4GB", "memory"), parse_size("1.5 GiB", "memory"), parse_size(70, "memory")
    (4000000000, 1610612736, 70)
    """
    found = _SIZE.fullmatch(str(text).strip())
    if found is not None:
        number, unit, binary = found.groups()
        size = int(float(number) * (_BINARY_UNITS if binary else _UNITS)[unit.upper()])
        if 1 <= size < 1 << 63:
            return size
    raise SettingsError(f"{name} is {text!r}", hint="give a size such as 500MB or 4GB")


def format_size(size: int) -> str:
    """Write a size with three digits.

    >>> format_size(999), format_size(1_000_000_000), format_size(1_234_567)
    ('999 B', '1 GB', '1.23 MB')
    """
    fitting = [unit for unit, factor in _UNITS.items() if factor <= max(size, 1)]
    return f"{size / _UNITS[fitting[-1]]:.3g} {fitting[-1].replace('K', 'k')}B"
