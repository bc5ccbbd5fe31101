"""How many threads native code is to use."""

from __future__ import annotations

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


MOST_THREADS = 1024
"""More than any machine has cores; a larger number is a mistake, and could not be started."""
