from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from prunedbpe._support.threads import in_background, one_ahead


def test_with_one_thread_the_job_is_done_at_once_by_the_caller() -> None:
    who = in_background(threading.get_ident, threads=1)
    assert who() == threading.get_ident()


@pytest.mark.parametrize("threads", [0, 2])
def test_with_more_it_is_done_by_another_and_waited_for(threads: int) -> None:
    go = threading.Event()

    def job() -> int:
        assert go.wait(60)
        return threading.get_ident()

    who = in_background(job, threads)
    go.set()  # the caller was not kept waiting
    assert who() == who() != threading.get_ident()


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_is_raised_to_whoever_asks(threads: int) -> None:
    with pytest.raises(IndexError):
        in_background(lambda: [][0], threads)()


def count_aloud(made: list[int]) -> Iterator[int]:
    for number in range(1, 4):
        made.append(number)
        yield number
    raise ValueError("no more")


@pytest.mark.parametrize(
    ("threads", "takes_long", "most_ahead"), [(1, True, 0), (2, False, 0), (2, True, 1)]
)
def test_one_item_is_made_ahead_and_an_error_comes_in_its_turn(
    threads: int, takes_long: bool, most_ahead: int
) -> None:
    made: list[int] = []
    used: list[int] = []
    with pytest.raises(ValueError, match="no more"):
        for number in one_ahead(count_aloud(made), threads, lambda number: takes_long):
            assert len(made) - number <= most_ahead
            used.append(number)
    assert used == made == [1, 2, 3]
