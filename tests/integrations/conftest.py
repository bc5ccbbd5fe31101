"""Texts and small tokenizers for the tests against other libraries."""

from __future__ import annotations

import pytest
from random_texts import random_texts

import prunedbpe


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """10,000 random Unicode texts."""
    return random_texts(10_000)


def train_on(texts: list[str], pretokenizer: str, threshold: str = "0") -> prunedbpe.Tokenizer:
    """Train a small tokenizer, many of whose merges apply to the texts."""
    return prunedbpe.train(
        iter(texts[:3000]), vocab_size=1000, threshold=threshold, pretokenizer=pretokenizer
    )
