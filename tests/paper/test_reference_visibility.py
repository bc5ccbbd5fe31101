"""Section 1, steps 2-5: exposure, threshold, batches, export; section 2: flow and length."""

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from prunedbpe.errors import InsufficientCandidatesError, SettingsError
from prunedbpe.reference import (
    encoded_length,
    exposure,
    flow,
    learn,
    prune,
    reallocate,
    reallocation_batch,
    segment,
    threshold_count,
    train,
)

THE_CAT = {b"the": 2, b"cat": 2, b"hat": 1, b"that": 1}  # learns at, th, the, cat
A, B, T, H = b"abth"


def test_exposure_is_not_the_frequency_at_creation():
    learned = learn(THE_CAT, 4)
    assert learned.frequencies == [4, 3, 2, 2]
    assert exposure(segment(learned.merges, THE_CAT), 4)[256:] == [2, 1, 2, 2]


def test_exposure_falls_as_learning_goes_on():
    merges = learn(THE_CAT, 4).merges
    of_at = [exposure(segment(merges[:k], THE_CAT), k)[256] for k in (1, 2, 3, 4)]
    assert of_at == [4, 4, 4, 2]


def test_exposure_of_a_token_that_is_both_children():
    # aaaa: aa aa, then one token of rank 257
    merges = [(A, A), (256, 256)]
    assert exposure(segment(merges, {b"aaaa": 3, b"aaa": 1}), 2)[256:] == [1, 3]


@pytest.mark.parametrize(
    ("threshold", "frequency", "expected"),
    [
        ("20%", 40, 8),
        ("30%", 40, 12),
        ("40%", 40, 16),
        (0.07, 100, 7),  # 7.000000000000001 in floats
        ("7%", 100, 7),
        (0.55, 100, 55),  # 55.00000000000001 in floats
        ("30%", 41, 13),
        ("12.5%", 8, 1),
        ("12.5%", 9, 2),
        ("100%", 40, 40),
        ("0%", 40, 0),
        (0, 40, 0),
        (750, 40, 750),
        ("750", 40, 750),
        (1, 40, 1),  # a whole number is a count,
        (1.0, 40, 40),  # a float a ratio
    ],
)
def test_threshold(threshold, frequency, expected):
    assert threshold_count(threshold, frequency) == expected


@pytest.mark.parametrize("threshold", ["", "%", "high", "0.4", "-5", -5, -0.1, "1/2"])
def test_threshold_that_makes_no_sense(threshold):
    with pytest.raises(SettingsError, match="threshold"):
        threshold_count(threshold, 40)


def test_batch_is_25_or_a_tenth_more_than_missing():
    assert [reallocation_batch(missing) for missing in (0, 1, 22)] == [25, 25, 25]
    assert [reallocation_batch(missing) for missing in (23, 24, 29)] == [26, 27, 32]
    # 1.1 * missing is whole here and just above it in floats, where the released code rounds up
    assert [reallocation_batch(missing) for missing in (50, 100, 110)] == [56, 111, 122]


def counts_of_words(number):
    """Distinct words of two letters, each twice: one merge per word, each with exposure 2."""
    letters = [bytes([first, second]) for first in range(30) for second in range(100, 130)]
    return dict.fromkeys(letters[:number], 2)


def test_nothing_is_learned_when_nothing_is_missing():
    counts = counts_of_words(60)
    standard = learn(counts, 10)
    assert reallocate(counts, standard, required=10, min_exposure=2) == standard


def test_reallocation_goes_in_whole_batches():
    # "the": th is left with exposure 0, so one token is missing and 25 merges are learned for it.
    counts = {b"the": 9} | counts_of_words(60)
    standard = learn(counts, 10)
    learned = reallocate(counts, standard, required=10, min_exposure=2)
    assert len(learned.merges) == 35


def test_max_train_vocab_cuts_the_batch_short():
    counts = {b"the": 9} | counts_of_words(60)
    standard = learn(counts, 10)
    learned = reallocate(counts, standard, 10, 2, max_train_vocab=256 + 12)
    assert len(learned.merges) == 12


def test_max_train_vocab_reached():
    counts = {b"the": 9} | counts_of_words(60)
    with pytest.raises(InsufficientCandidatesError) as error:
        reallocate(counts, learn(counts, 10), 10, 2, max_train_vocab=256 + 10)
    assert error.value.message == (
        "9 learned tokens have exposure 2 or more; this vocabulary needs 10, "
        "and max_train_vocab=266 is reached"
    )
    assert "max_train_vocab" in (error.value.hint or "")


def test_no_pair_left():
    with pytest.raises(InsufficientCandidatesError, match=r"needs 3.*no pair occurs twice"):
        train(THE_CAT, 259, 3, special_tokens=())
    with pytest.raises(InsufficientCandidatesError, match=r"4 learned tokens.*needs 9"):
        train(THE_CAT, 265, 0, special_tokens=())


def test_prune_needs_enough_candidates():
    with pytest.raises(InsufficientCandidatesError, match=r"1 learned tokens.*needs 2"):
        prune([(A, B), (256, A)], [0] * 256 + [1, 5], required=2, min_exposure=2)


def test_budgets_that_do_not_fit():
    with pytest.raises(SettingsError, match="vocab_size=259"):
        train(THE_CAT, 259, 0)
    with pytest.raises(SettingsError, match="max_train_vocab=258"):
        train(THE_CAT, 263, 0, max_train_vocab=258)


def test_no_learned_token_wanted():
    vocabulary = train(THE_CAT, 260, "40%")
    assert (vocabulary.merges, vocabulary.visible, vocabulary.vocab_size) == ([], [], 260)


def test_export_scans_in_merge_order_and_stops_when_full():
    merges = [(A, B), (256, A), (257, A), (258, A), (259, A)]
    exposures = [0] * 256 + [9, 1, 9, 9, 9]
    vocabulary = prune(merges, exposures, required=2, min_exposure=5)
    assert vocabulary.visible == [256, 258]
    assert vocabulary.internal == [257]
    assert vocabulary.merges == merges[:3]  # 259 and 260 are discarded


def test_layout_of_token_ids():
    merges = [(A, B), (256, A), (257, A)]
    vocabulary = prune(merges, [0] * 256 + [1, 9, 9], required=2, min_exposure=5)
    assert vocabulary.vocab_size == 262
    assert [vocabulary.token_ids[byte] for byte in (0, 255)] == [0, 255]
    assert [vocabulary.token_ids[rank] for rank in (257, 258)] == [256, 257]
    assert list(vocabulary.special_ids.values()) == [258, 259, 260, 261]
    assert list(vocabulary.special_ids) == ["<_EOS_>", "<_SOS_>", "<_SEP_>", "<_PAD_>"]
    assert vocabulary.token_ids[256] == 262


def test_internal_token_stays_when_nothing_is_built_on_it():
    merges = [(A, B), (T, H)]
    vocabulary = prune(merges, [0] * 256 + [1, 9], required=1, min_exposure=5)
    assert vocabulary.internal == [256]
    assert vocabulary.merges == merges


def test_threshold_zero_is_standard_bpe():
    vocabulary = train(THE_CAT, 263, 0)
    assert vocabulary.merges == learn(THE_CAT, 3).merges
    assert vocabulary.internal == []


def test_flow_counts_expansions():
    # the: t h e with th and the hidden; that: t h at with at visible
    merges = learn(THE_CAT, 3).merges
    corpus = segment(merges, THE_CAT)
    flows = flow(corpus, merges, {257, 258})
    assert flows[256:] == [4, 1 + 2, 2]
    assert flows[T] == 3
    # the | c at | h at | th at: 10 tokens, 5 of them made two
    assert encoded_length(corpus, merges, set()) == 10
    assert encoded_length(corpus, merges, {257, 258}) == 15


def test_flow_enters_both_children():
    merges = [(A, A), (256, 256)]
    corpus = segment(merges, {b"aaaa": 3})
    assert flow(corpus, merges, {256, 257})[256:] == [6, 3]
    assert encoded_length(corpus, merges, {256, 257}) == 12


@given(strategies.chunk_counts(), st.data())
def test_hiding_all_leaves_bytes_and_hiding_more_is_never_shorter(counts, data):
    merges = learn(counts, 12).merges
    corpus = segment(merges, counts)
    everything = set(range(256, 256 + len(merges)))
    hidden = data.draw(strategies.hidden_ranks(len(merges)))
    some = encoded_length(corpus, merges, hidden)
    assert encoded_length(corpus, merges, set()) <= some
    assert some <= encoded_length(corpus, merges, everything)
    assert encoded_length(corpus, merges, everything) == sum(
        len(chunk) * count for chunk, count in counts.items()
    )
