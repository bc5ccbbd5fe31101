"""The memory that learning is predicted to need, against what the native learner holds."""

from __future__ import annotations

from pathlib import Path

import pytest

import prunedbpe
from prunedbpe import Learner, _core
from prunedbpe.counts import ChunkCounts
from prunedbpe.merges.learner import _learning_memory, learning_memory

CHECKOUT = Path(__file__).parents[3]
MERGES = 4000
FIXED = 6_000_000
"""What the estimate adds for the process, and the learner does not report."""


@pytest.fixture(scope="module", params=["paper", "none"])
def counts(request) -> ChunkCounts:
    """The sources of this library: English, and code in two languages."""
    texts = [*CHECKOUT.glob("docs/**/*.md"), *CHECKOUT.glob("src/**/*.py")]
    texts += [*CHECKOUT.glob("cpp/**/*.?pp"), *CHECKOUT.glob("tests/**/*.py")]
    return prunedbpe.count(sorted(texts), pretokenizer=request.param)


def check(estimate: int, memory: int) -> None:
    assert memory <= estimate <= 1.6 * memory + FIXED


@pytest.mark.parametrize("threads", [1, 3])
def test_an_upper_estimate(counts, threads):
    learner = Learner(counts, threads=threads)
    learner.reach(MERGES)
    estimate = learning_memory(len(counts), len(counts.data), MERGES, threads=threads)
    check(estimate, learner.memory)


def test_an_upper_estimate_for_wide_positions(counts):
    learner = _core.Learner(*counts.columns[:3], None, 1, None, narrow_slots=0)
    learner.advance(MERGES, float("inf"))
    check(_learning_memory(len(counts), len(counts.data), MERGES, 1, 2), learner.memory)


def test_positions_become_wide_where_32_bits_end():
    def growth(unique_bytes: int) -> int:
        below, above = (
            learning_memory(chunks, unique_bytes, 1000, threads=1) for chunks in (1000, 1001)
        )
        return above - below

    assert growth(2**32 - 1004) < 100  # slots: bytes, chunks and one more
    assert growth(2**32 - 1003) > 4 * 2**32


def test_more_of_anything_needs_more():
    least = learning_memory(10_000, 10**6, 1000, threads=2)
    assert learning_memory(20_000, 10**6, 1000, threads=2) > least
    assert learning_memory(10_000, 2 * 10**6, 1000, threads=2) > least
    assert learning_memory(10_000, 10**6, 2000, threads=2) > least
    assert learning_memory(10_000, 10**6, 1000, threads=3) > least
