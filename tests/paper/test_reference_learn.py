"""Section 1, step 1: counting, the tie rule, replacement, the end of learning."""

import strategies
from hypothesis import given

from prunedbpe.reference import (
    count_chunks,
    learn,
    pair_frequencies,
    replace_pair,
    replay,
    segment,
    spell,
)

A, B, C = b"abc"


def strings(counts, merge_count=100, merges=()):
    """Return the learned tokens as bytes."""
    return spell(learn(counts, merge_count, merges).merges)[256:]


def test_chunks_are_counted_in_order_of_first_appearance():
    counts = count_chunks(["b a", "a c b"], str.split)
    assert list(counts.items()) == [(b"b", 2), (b"a", 2), (b"c", 1)]


def test_frequency_counts_overlapping_positions():
    assert pair_frequencies([([A, A, A], 1)]) == {(A, A): 2}
    assert pair_frequencies([([A, A, A, A], 3)]) == {(A, A): 9}


def test_replacement_does_not_overlap():
    assert replace_pair([A, A, A], (A, A), 256) == [256, A]
    assert replace_pair([A, A, A, A], (A, A), 256) == [256, 256]
    assert replace_pair([B, A, A, A], (A, A), 256) == [B, 256, A]
    assert replace_pair([A, B, A, B, A], (A, B), 256) == [256, 256, A]


def test_applied_is_below_frequency_where_occurrences_overlap():
    learned = learn({b"aaa": 5}, 1)
    assert learned.frequencies == [10]
    assert learned.applied == [5]


def test_overlaps_can_decide_the_choice():
    # (a, a) stands at three positions of "aaaa" and can be replaced twice; (b, c) occurs twice.
    assert strings({b"bc": 2, b"aaaa": 1}, 1) == [b"aa"]


def test_tie_goes_to_the_earlier_chunk():
    assert strings({b"ab": 2, b"cd": 2}) == [b"ab", b"cd"]
    assert strings({b"cd": 2, b"ab": 2}) == [b"cd", b"ab"]


def test_tie_goes_to_the_earlier_position_in_a_chunk():
    # (b, a) and (a, b) both occur twice; b comes first in the chunk.
    assert strings({b"ba": 1, b"bab": 1, b"ab": 1}, 1) == [b"ba"]
    assert strings({b"xyz": 2}, 1) == [b"xy"]


def test_tie_looks_at_the_merged_corpus_of_that_moment():
    # In bytes (c, d) stands first, in "cdab". After "ab" the corpus is  cd ab | x ab | c d: (c, d)
    # occurs twice from position 0 on, (x, ab) twice after it.
    assert strings({b"cdab": 1, b"xab": 2, b"cd": 1}, 2) == [b"ab", b"cd"]
    # With "ce" in front instead, (c, d) first occurs after "xab".
    assert strings({b"ceab": 1, b"xab": 2, b"cd": 2}, 2) == [b"ab", b"xab"]


def test_tie_counts_only_occurrences_that_are_left():
    # (b, c) stands before (c, d), in "abc", until "ab" takes that b; then "cd" comes before "bc".
    assert strings({b"abc": 1, b"cd": 2, b"ab": 3, b"bc": 2}, 2) == [b"ab", b"cd"]


def test_a_rare_chunk_in_front_can_decide_a_tie():
    assert strings({b"cd": 2, b"ab": 2}, 1) == [b"cd"]
    assert strings({b"xab": 1, b"cd": 2, b"ab": 1}, 1) == [b"ab"]


def test_learning_stops_below_frequency_two():
    assert strings({b"abc": 1}) == []
    assert strings({b"ab": 1, b"b": 9}) == []
    assert strings({b"aaa": 1}) == [b"aa"]  # frequency 2, one replacement
    assert strings({}) == []


def test_merges_never_cross_chunks():
    assert strings({b"a": 9, b"b": 9}) == []


def test_replay_counts_replacements_in_another_corpus():
    merges = [(A, A), (256, 256)]
    assert replay(merges, {b"aaaaa": 2, b"aab": 1}) == [2 * 2 + 1, 2]
    assert segment(merges, {b"aaaaa": 2, b"aab": 1}) == [([257, A], 2), ([256, B], 1)]


def test_resuming_from_nothing_is_learning():
    counts = {b"abcabc": 3, b"abab": 2}
    assert learn(counts, 4, []) == learn(counts, 4)


def test_merges_from_elsewhere_may_not_occur():
    learned = learn({b"ab": 2}, 2, [(C, C)])
    assert learned.merges == [(C, C), (A, B)]
    assert learned.frequencies == [0, 2]
    assert learned.applied == [0, 2]


@given(strategies.chunk_counts())
def test_resuming_at_any_point_gives_the_uninterrupted_run(counts):
    whole = learn(counts, 12)
    for stop in range(len(whole.merges) + 1):
        assert learn(counts, 12, whole.merges[:stop]) == whole


@given(strategies.chunk_counts())
def test_replay_on_the_training_corpus_is_applied(counts):
    learned = learn(counts, 12)
    assert replay(learned.merges, counts) == learned.applied
