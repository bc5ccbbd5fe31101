"""Intervals of the language-model study."""

from __future__ import annotations

import math

import numpy as np
import pytest

from prunedbpe.errors import SettingsError
from studies.language_model.intervals import Interval, document_interval, seed_interval


def test_seeds_of_known_spread():
    # Six values of mean 0 and standard deviation 1: 2.5706 / sqrt(6).
    values = [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0]
    found = seed_interval([value * math.sqrt(5 / 6) for value in values])
    assert found.high == pytest.approx(1.04945, abs=1e-5)
    assert found.low == pytest.approx(-found.high)


def test_one_seed_has_no_interval():
    with pytest.raises(SettingsError, match="1 seeds"):
        seed_interval([1.0])


def test_documents_that_all_differ_alike():
    sizes = np.array([100.0, 200.0, 300.0])
    found = document_interval(sizes * math.log(2) * 0.5, sizes * math.log(2) * 0.4, sizes)
    assert (found.low, found.high) == (pytest.approx(0.1), pytest.approx(0.1))


def test_documents_cover_the_mean():
    generator = np.random.default_rng(3)
    sizes = generator.uniform(1000, 5000, 400)
    nats = sizes * generator.normal(1.5, 0.1, 400)
    found = document_interval(nats, np.zeros(400), sizes)
    mean = nats.sum() / sizes.sum() / math.log(2)
    assert mean in found
    # 0.1 / ln 2 over 400 documents of nearly equal weight, twice 1.96 standard errors.
    assert found.high - found.low == pytest.approx(0.03, abs=0.006)


def test_union():
    assert Interval(-1, 2) | Interval(0, 3) == Interval(-1, 3)
