"""The lower bound as a user calls it."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

import prunedbpe
from prunedbpe import ChunkCounts, _core
from prunedbpe.errors import SettingsError
from prunedbpe.visibility import lower_bound as module
from prunedbpe.visibility.lower_bound import lower_bound, lower_bound_of_any_vocabulary

COUNTS = ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1})


def test_what_no_candidate_can_change():
    assert lower_bound(COUNTS, [], 5).tokens == COUNTS.total_bytes
    assert lower_bound(COUNTS, [b"at", b"the"], 0).tokens == COUNTS.total_bytes
    assert lower_bound_of_any_vocabulary(COUNTS, [], 0).tokens == COUNTS.total_bytes


def test_all_chunks_become_tokens():
    bound = lower_bound_of_any_vocabulary(COUNTS, [], 4)
    assert (bound.tokens, bound.kind) == (6, "any")


def test_candidates_from_merges_and_from_strings():
    merges = prunedbpe.learn(COUNTS, 4)
    of_merges = lower_bound(COUNTS, merges, 2)
    # Bytes and repeated strings change nothing.
    strings = [b"a", *merges.token_bytes[256:], b"at"]
    assert lower_bound(COUNTS, strings, 2) == of_merges
    assert of_merges.candidates == 4


def test_any_vocabulary_finds_the_tokens_that_were_not_given():
    """From bad candidates, it still has to allow for the good ones."""
    given = lower_bound(COUNTS, [b"ha"], 2)
    anything = lower_bound_of_any_vocabulary(COUNTS, [b"ha"], 2)
    assert given.tokens == 17  # "hat" and "that" save one token each
    assert anything.tokens <= 11


def test_long_chunks_count_as_one_token(monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 3)
    assert lower_bound(COUNTS, [], 1).tokens == COUNTS.total_bytes - 4 + 1
    assert lower_bound_of_any_vocabulary(COUNTS, [], 3).tokens == 6


def test_more_passes_never_lower_the_bound():
    merges = prunedbpe.learn(COUNTS, 4)
    bounds = [lower_bound(COUNTS, merges, 2, passes=passes).tokens for passes in (1, 100)]
    assert bounds[0] <= bounds[1] == 11


def test_progress_counts_the_passes():
    done = []

    class Watch:
        @contextmanager
        def task(self, name, *, total, unit):
            assert (name, total, unit) == ("Bounding", 7, "passes")
            yield SimpleNamespace(advance=done.append)

    assert lower_bound(COUNTS, [b"at"], 1, passes=7, progress=Watch()).passes == 7
    assert sum(done) == 7


@pytest.mark.parametrize(("required", "passes"), [(-1, 5), (2, 0)])
def test_settings_that_give_no_bound(required, passes):
    with pytest.raises(SettingsError, match=r"required=-1|passes=0"):
        lower_bound(COUNTS, [b"at"], required, passes=passes)


def test_native_code_checks_its_arguments():
    strings = np.frombuffer(bytes(range(256)) + b"at", np.uint8)
    offsets = np.array([*range(257), 258], np.int64)
    native = _core.LowerBound(*COUNTS.columns[:3], strings, offsets, 1, 1)
    with pytest.raises(ValueError, match="heat"):
        native.ascend(1.5)
    with pytest.raises(ValueError, match="multipliers for"):
        native.set_multipliers(np.zeros(1, np.uint16))


def test_counts_too_large_for_exact_sums():
    counts = ChunkCounts.from_mapping({b"ab": 2**60})
    with pytest.raises(ValueError, match="too large"):
        lower_bound(counts, [b"ab"], 1)
