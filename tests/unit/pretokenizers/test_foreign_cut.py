"""Texts that the scanner cuts as a library with another Unicode version does."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pytest

from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.pretokenizers.foreign_cut import ForeignCut, _joined

PLAIN = "naïve 人民"


@pytest.mark.parametrize("normalization", [None, "NFC", "NFKC"])
@pytest.mark.parametrize("version", ["15.0.0", "16.0.0", "18.0.0"])
def test_plain_is_what_nothing_changes(version, normalization):
    cut = ForeignCut(Pretokenizer("gpt2"), version, normalization)
    changed = {point for first, last, _ in cut.replacements() for point in range(first, last + 1)}
    assert bool(changed) == (version != "18.0.0")
    for point in [*changed, *range(0x80, sys.maxunicode + 1, 7)]:
        text = chr(point)
        if cut.are_plain([PLAIN, text]):
            assert point not in changed
            assert cut.normalized(text) == text
        elif point not in changed:  # careful, but not about what is clear
            assert unicodedata.category(text) in ("Mn", "Mc", "Cn") or (
                normalization is not None and unicodedata.normalize("NFKC", text) != text
            )


def test_plain_texts_and_one_that_is_not():
    cut = ForeignCut(Pretokenizer("gpt2"), "16.0.0", "NFC")
    assert cut.are_plain([])
    assert cut.are_plain(["abc", PLAIN] * 1000)
    assert not cut.are_plain([*[PLAIN] * 1000, "e\u0301", PLAIN])
    assert not cut.are_plain(["\u0558", PLAIN])  # a letter of Unicode 18.0
    assert cut.are_plain(["\ud800"])  # the encoder refuses or repairs it


def test_joined_texts_are_all_texts():
    texts = [character * count for character in "aé" for count in np.arange(0, 3_000, 7)]
    parts = list(_joined(texts))
    assert len(parts) > 1 and "".join(parts) == "".join(texts)
