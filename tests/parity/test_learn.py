"""Learning and replay: one body, every implementation, on corpora a person can follow."""

from __future__ import annotations

import pytest
from implementations import IMPLEMENTATIONS, NATIVE, WIDE

from prunedbpe.reference import learn, spell

every_implementation = pytest.mark.parametrize(
    "implementation", IMPLEMENTATIONS, ids=lambda implementation: implementation.name
)
every_native = pytest.mark.parametrize("native", (*NATIVE, *WIDE), ids=lambda native: native.name)


@every_implementation
def test_overlapping_occurrences_are_counted_but_not_replaced(implementation):
    learned = implementation.learn({b"aaa": 5, b"ab": 5}, 1)
    assert (learned.merges, learned.frequencies, learned.applied) == ([(97, 97)], [10], [5])


@every_implementation
@pytest.mark.parametrize("length", range(2, 20))
def test_runs_of_one_letter(implementation, length):
    counts = {b"a" * length: 1}
    assert implementation.learn(counts, 99) == learn(counts, 99)


@every_implementation
def test_ties_go_to_the_pair_seen_first(implementation):
    counts = {b"xy": 2, b"ab": 2, b"cd": 2}
    assert spell(implementation.learn(counts, 99).merges)[256:] == [b"xy", b"ab", b"cd"]


@every_implementation
def test_tie_moves_when_the_first_occurrence_is_destroyed(implementation):
    # (b, c) stands first inside "abc"; once "ab" is made there, (d, e) comes before what is left.
    counts = {b"abc": 3, b"abx": 1, b"de": 2, b"bc": 2}
    learned = implementation.learn(counts, 99)
    assert learned == learn(counts, 99)
    assert spell(learned.merges)[256:] == [b"bc", b"abc", b"de"]


@every_implementation
def test_stops_below_frequency_two(implementation):
    assert implementation.learn({b"abcdef": 1}, 10).merges == []
    assert implementation.learn({b"a": 100}, 10).merges == []
    assert implementation.learn({}, 10).merges == []


@every_implementation
@pytest.mark.parametrize("count", [2**32 - 2, 2**32 - 1, 2**32, 2**33, 2**40])
def test_counts_beyond_32_bits(implementation, count):
    counts = {b"aab": count, b"ba": 2 * count, b"abab": 1}
    assert implementation.learn(counts, 9) == learn(counts, 9)
    assert implementation.replay([(97, 98), (256, 256)], counts) == [count + 2, 1]


@every_implementation
def test_replay_counts_what_learning_counted(implementation):
    counts = {b"the": 2, b"that": 3, b"hat": 1, b"aaaa": 2}
    learned = learn(counts, 99)
    assert implementation.replay(learned.merges, counts) == learned.applied


@every_native
@pytest.mark.parametrize("alphabet", [b"a", b"ab", b"abcdefgh", bytes(range(256))])
def test_a_larger_corpus(native, alphabet):
    """Enough pairs that tables grow and lists are freed and used again."""
    state = 12345
    counts: dict[bytes, int] = {}
    for _ in range(300):
        chunk = bytearray()
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        for _ in range(1 + (state >> 40) % 30):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            chunk.append(alphabet[(state >> 33) % len(alphabet)])
        counts[bytes(chunk)] = 1 + (state >> 50) % 5
    assert native.learn(counts, 150) == learn(counts, 150)
    assert native.learn(counts, 150, learn(counts, 60).merges) == learn(counts, 150)
