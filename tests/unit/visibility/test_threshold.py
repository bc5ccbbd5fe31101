"""Thresholds, budgets, and the scan that decides visibility."""

from __future__ import annotations

import numpy as np
import pytest

from prunedbpe.errors import SettingsError
from prunedbpe.visibility.threshold import Threshold, decide_visibility, required_tokens


@pytest.mark.parametrize(
    ("value", "boundary_frequency", "min_exposure"),
    [
        ("40%", 41, 17),
        ("40%", 40, 16),
        ("30%", 40, 12),  # 0.30 * 40 is 12.000000000000002 in binary floats nowhere here
        (0.3, 40, 12),
        (0.07, 100, 7),
        ("7%", 100, 7),
        ("100%", 5, 5),
        ("1/3%", 300, 1),
        ("0%", 40, 0),
        (0.0, 40, 0),
        (0, 40, 0),
        ("0", 40, 0),
        (750, 40, 750),
        (" 750 ", 40, 750),
        (1.0, 40, 40),
        (1, 40, 1),
        (np.int64(3), 40, 3),
        (np.float64(0.5), 40, 20),
        ("0.5", 40, 20),
        (" 50 % ", 40, 20),
        ("20%", 2**60, -(-(2**60) // 5)),
    ],
)
def test_threshold(value, boundary_frequency, min_exposure):
    assert Threshold.parse(value).min_exposure(boundary_frequency) == min_exposure


@pytest.mark.parametrize(
    "value",
    ["abc", "", "%", "1/0%", "0.x", ".", "1.5.2", None, True, float("nan"), float("inf"), "4 0"],
)
def test_threshold_that_is_none(value):
    with pytest.raises(SettingsError, match="neither a ratio nor a count"):
        Threshold.parse(value)


@pytest.mark.parametrize("value", [-1, "-1", "-1%", -0.5])
def test_negative_threshold(value):
    with pytest.raises(SettingsError, match="negative"):
        Threshold.parse(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.4, "40%"), (0.125, "12.5%"), (1.0, "100%"), (1e-05, "0.001%"), ("40%", "40%"), (5, "5")],
)
def test_threshold_as_it_is_saved(value, text):
    assert Threshold.parse(value).text == text
    # What is saved means the same again.
    assert Threshold.parse(text).min_exposure(12345) == Threshold.parse(value).min_exposure(12345)


def test_huge_ratio():
    assert Threshold.parse(1e308).min_exposure(2) == 2 * 10**308


def test_required_tokens():
    assert required_tokens(256, ()) == 0
    assert required_tokens(1000, ("a", "b", "c", "d")) == 740
    with pytest.raises(SettingsError, match=r"vocab_size=256 has no room[\s\S]*use 257"):
        required_tokens(256, ("a",))


@pytest.mark.parametrize(
    ("exposures", "required", "min_exposure", "decided"),
    [
        ([9, 1, 5, 7], 2, 5, [0, 1, 0, 2]),
        ([9, 1, 5, 7], 3, 5, [0, 1, 0, 0]),
        ([9, 1, 5, 7], 4, 0, [0, 0, 0, 0]),
        ([9, 1, 5, 7], 0, 5, [2, 2, 2, 2]),
        ([1, 1, 9, 1], 1, 5, [1, 1, 0, 2]),  # nothing behind the last visible one is kept
        ([], 0, 5, []),
    ],
)
def test_decide_visibility(exposures, required, min_exposure, decided):
    found = decide_visibility(np.array(exposures, np.int64), required, min_exposure)
    assert found.tolist() == decided
