"""How many threads to use, and work that runs in the background while native code is busy."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TypeVar

from prunedbpe._support.arguments import to_whole_number
from prunedbpe.errors import SettingsError

Result = TypeVar("Result")

MAX_THREADS = 1024
"""More than any machine has cores: a larger number is a mistake."""


def thread_count(threads: int | None) -> int:
    """Return the number native code takes, where 0 means one thread per core.

    >>> thread_count(None), thread_count(7)
    (0, 7)
    """
    if threads is None:
        return 0
    threads = to_whole_number("threads", threads)
    if not 0 <= threads <= MAX_THREADS:
        raise SettingsError(
            f"threads is {threads}",
            hint=f"use a number up to {MAX_THREADS}, or leave it out for one thread per core",
        )
    return threads


def worker_count(threads: int | None) -> int:
    """Return how many Python threads to start: at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return thread_count(threads) or len(os.sched_getaffinity(0))
    return thread_count(threads) or os.cpu_count() or 1


def in_background(job: Callable[[], Result], threads: int) -> Callable[[], Result]:
    """Run a job in a thread of its own, or at once if ``threads`` is 1.

    Returns:
        A function that waits for the job and returns its result, or raises its error.

    >>> result = in_background(lambda: 6 * 7, threads=2)
    >>> result()
    42
    """
    if threads == 1:
        result = job()
        return lambda: result
    # Not an executor: Ctrl-C is lost if it comes while Python is in one of its weak references.
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(job())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run).start()
    return future.result


def one_ahead(
    items: Iterator[Result], threads: int, is_slow: Callable[[Result], bool]
) -> Iterator[Result]:
    """Yield the same items; while a slow one is in use, a thread prepares the next.

    With one thread nothing is prepared ahead. An item must not be ``None``.

    >>> list(one_ahead(iter("abc"), threads=2, is_slow=lambda letter: letter == "b"))
    ['a', 'b', 'c']
    """
    item = next(items, None)
    while item is not None:
        if threads != 1 and is_slow(item):
            upcoming = in_background(lambda: next(items, None), threads)
            yield item
            item = upcoming()
        else:
            yield item
            item = next(items, None)
