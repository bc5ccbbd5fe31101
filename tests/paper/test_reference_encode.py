"""Section 1, steps 6 and 7: merging by rank, expansion, the fewest visible tokens."""

from itertools import combinations, pairwise

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from prunedbpe.errors import SettingsError
from prunedbpe.reference import (
    count_chunks,
    decode,
    decode_bytes,
    encode,
    encode_chunk,
    expand,
    learn,
    prune,
    segment,
    shortest,
    spell,
    train,
)

A, B, C, D = b"abcd"


def whole(text):
    """Split nothing: every text is one chunk."""
    return [text] if text else []


def test_lowest_rank_goes_first():
    # bc has the lower rank, so abc is a | bc although ab stands further left.
    assert encode_chunk(b"abc", [(B, C), (A, B)]) == [A, 256]


def test_leftmost_of_equals_goes_first():
    assert encode_chunk(b"aaa", [(A, A)]) == [256, A]
    assert encode_chunk(b"aaaaa", [(A, A), (256, 256)]) == [257, A]


def test_nothing_to_merge():
    assert encode_chunk(b"", [(A, B)]) == []
    assert encode_chunk(b"ba", [(A, B)]) == [B, A]


def test_internal_tokens_expand_recursively():
    # ab 256 and abc 257 internal, abcd 258 visible
    merges = [(A, B), (256, C), (257, D)]
    vocabulary = prune(merges, [0] * 256 + [0, 0, 9], required=1, min_exposure=5)
    assert expand(256, vocabulary) == [A, B]
    assert expand(257, vocabulary) == [A, B, C]
    assert expand(258, vocabulary) == [256]
    assert encode("abcdabcab", vocabulary, whole) == [256, A, B, C, A, B]


def test_expansion_stops_at_visible_tokens():
    merges = [(A, B), (256, C), (257, D)]
    vocabulary = prune(merges, [0] * 256 + [9, 0, 9], required=2, min_exposure=5)
    assert expand(257, vocabulary) == [256, C]


def test_special_text_is_ordinary_text():
    vocabulary = train({b"ab": 2}, 261, 0)
    ids = encode("<_EOS_>ab", vocabulary, whole)
    assert ids == [*b"<_EOS_>", 256]
    assert decode([257], vocabulary) == "<_EOS_>"


def test_decode_refuses_ids_a_model_never_sees():
    merges = [(A, B), (256, C)]
    vocabulary = prune(merges, [0] * 256 + [0, 9], required=1, min_exposure=5)
    assert vocabulary.token_ids[256] == 261
    for token_id in (261, -1):
        with pytest.raises(SettingsError, match=f"token id {token_id} is outside.*\n.*0 to 260"):
            decode_bytes([token_id], vocabulary)


def test_part_of_a_character_decodes_to_a_replacement():
    vocabulary = train({}, 260, 0)
    assert decode([0xE4, 0xB8], vocabulary) == "\ufffd"
    assert decode_bytes([0xE4, 0xB8], vocabulary) == b"\xe4\xb8"


def test_shortest_looks_ahead():
    assert shortest(b"abcde", [b"abc", b"ab", b"cde"]) == [b"ab", b"cde"]
    assert shortest(b"abc", []) == [b"a", b"b", b"c"]
    assert shortest(b"", [b"ab"]) == []


def test_of_equals_the_last_token_is_longest():
    assert shortest(b"aaaaa", [b"aa", b"aaa"]) == [b"aa", b"aaa"]
    # Also of three tokens: aa|ab|bc and a|aab|bc, whose last one is shorter, and aa|a|bbc.
    strings = [b"aa", b"aab", b"ab", b"bc", b"bbc"]
    assert shortest(b"aaabbc", strings) == [b"a", b"aa", b"bbc"]


@given(strategies.chunk_counts(), strategies.chunks(b"abc"))
def test_by_rank_equals_one_merge_after_the_other(counts, chunk):
    merges = learn(counts, 12).merges
    assert segment(merges, {chunk: 1}) == [(encode_chunk(chunk, merges), 1)]


@given(strategies.chunks(b"abc", 9), st.sets(strategies.chunks(b"abc", 5), max_size=6))
def test_shortest_is_the_best_of_all_cuts(chunk, strings):
    cuts = [
        [chunk[begin:end] for begin, end in pairwise([0, *inner, len(chunk)])]
        for count in range(len(chunk))
        for inner in combinations(range(1, len(chunk)), count)
    ]
    valid = [cut for cut in cuts if all(len(piece) == 1 or piece in strings for piece in cut)]

    def fewest_then_longest_last(cut):
        return len(cut), [-len(piece) for piece in reversed(cut)]

    assert shortest(chunk, strings) == min(valid, key=fewest_then_longest_last, default=[])


@given(strategies.documents(), strategies.texts(), st.integers(0, 5))
def test_round_trip(documents, text, min_exposure):
    counts = count_chunks(documents, whole)
    learned = learn(counts, 6)
    exposures = [0] * 256 + learned.frequencies
    required = sum(count >= min_exposure for count in learned.frequencies)
    vocabulary = prune(learned.merges, exposures, required, min_exposure)
    ids = encode(text, vocabulary, whole)
    assert decode(ids, vocabulary) == text
    assert all(token_id < 256 + required for token_id in ids)


@given(strategies.chunk_counts(), strategies.chunks(b"abc"))
def test_shortest_is_never_longer_than_by_rank(counts, chunk):
    merges = learn(counts, 12).merges
    assert len(shortest(chunk, spell(merges))) <= len(encode_chunk(chunk, merges))
