"""How much memory there is, and how much of it to use."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

from prunedbpe._support.sizes import format_size, parse_size
from prunedbpe.errors import SettingsError

DEFAULT_SHARE = 0.5
"""The share of the machine's memory that is used if no limit is given."""

_CGROUPS = Path("/sys/fs/cgroup")


def machine_memory() -> int:
    """Return the memory this process may use: that of the machine, or of its cgroup if less."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in _limit_files():
        try:
            text = path.read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdecimal():  # "max" is no limit
            found.append(int(text))
    return min(found)


def peak_memory() -> int:
    """Return the most memory that this process has held so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _limit_files() -> Iterator[Path]:
    """The limits of the cgroup of this process, and of those that contain it."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, group = line.split(":", 2)
        if number == "0":  # version 2
            root, name = _CGROUPS, "memory.max"
        elif "memory" in controllers.split(","):
            root, name = _CGROUPS / "memory", "memory.limit_in_bytes"
        else:
            continue
        folder = root / group.lstrip("/")
        yield folder / name
        yield from (parent / name for parent in folder.parents if parent.is_relative_to(root))


def memory_budget(memory: str | int | None, least: int) -> int:
    """Return how many bytes a step may use.

    Args:
        memory: What the user gave: a size such as ``4GB``; ``None`` for half of the machine's.
        least: What the step needs at least.

    Raises:
        SettingsError: It is less than the step needs.

    >>> memory_budget("4GB", least=10**9)
    4000000000
    """
    if memory is None:
        return max(int(machine_memory() * DEFAULT_SHARE), least)
    budget = parse_size(memory, "memory")
    if budget < least:
        raise SettingsError(
            f"memory is {format_size(budget)}, but {format_size(least)} are needed",
            hint=f"give --memory {format_size(least).replace(' ', '')} or more",
        )
    return budget
