"""A small tokenizer and documents to encode."""

from __future__ import annotations

import pytest

import prunedbpe

DOCUMENTS = ["the cat sat", "中文 on the mat", "that hat", "a", "the the the the"]


@pytest.fixture(scope="session")
def tok():
    return prunedbpe.train(iter(DOCUMENTS * 3), vocab_size=275, threshold=0)


@pytest.fixture(scope="session")
def documents():
    return DOCUMENTS
