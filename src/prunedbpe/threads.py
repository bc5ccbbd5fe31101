"""How many threads are to be used, and a job for one of them beside native code."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from prunedbpe.errors import SettingsError

Result = TypeVar("Result")


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


def do_meanwhile(job: Callable[[], Result], threads: int) -> Callable[[], Result]:
    """Do a job in a thread of its own, for whoever goes on to native code; at once if threads is 1.

    Returns:
        A function that waits for the job and gives its result, or raises its error.

    >>> result = do_meanwhile(lambda: 6 * 7, threads=2)
    >>> result()
    42
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(job())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    if threads == 1:
        thread.run()
    else:
        thread.start()

    def wait() -> Result:
        if thread.ident is not None:  # it was started
            thread.join()
        if errors:
            raise errors[0]
        return results[0]

    return wait


def one_ahead(
    items: Iterator[Result], threads: int, takes_long: Callable[[Result], bool]
) -> Iterator[Result]:
    """The same items, and while one is used that takes long, a thread of its own makes the next.

    With one thread nothing is made ahead. An item must not be ``None``.

    >>> list(one_ahead(iter("abc"), threads=2, takes_long=lambda letter: letter == "b"))
    ['a', 'b', 'c']
    """
    item = next(items, None)
    while item is not None:
        if threads != 1 and takes_long(item):
            upcoming = do_meanwhile(lambda: next(items, None), threads)
            yield item
            item = upcoming()
        else:
            yield item
            item = next(items, None)


MOST_THREADS = 1024
"""More than any machine has cores; a larger number is a mistake, and could not be started."""
