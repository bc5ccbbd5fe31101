"""How many threads are to be used."""

from __future__ import annotations

import os

from prunedbpe.errors import SettingsError


def thread_count(threads: int | None) -> int:
    """The number native code takes: 0 stands for one thread per core.

    >>> thread_count(None), thread_count(7)
    (0, 7)
    """
    if threads is None:
        return 0
    if not 0 <= threads <= MOST_THREADS:
        raise SettingsError(
            f"threads is {threads}",
            hint=f"give a number up to {MOST_THREADS}, or leave it out: one per core",
        )
    return int(threads)


def worker_count(threads: int | None) -> int:
    """The number that threads of Python's own are started by: at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return thread_count(threads) or len(os.sched_getaffinity(0))
    return thread_count(threads) or os.cpu_count() or 1


MOST_THREADS = 1024
"""More than any machine has cores; a larger number is a mistake, and could not be started."""
