"""What the tests of other libraries share."""

from __future__ import annotations

import pytest
from integrations.random_texts import random_texts

import prunedbpe


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """10,000 random Unicode texts."""
    return random_texts(10_000)


def train_on(texts: list[str], pretokenizer: str, threshold: str = "0") -> prunedbpe.Tokenizer:
    """A small tokenizer of which many merges apply to the texts."""
    return prunedbpe.train(
        iter(texts[:3000]), vocab_size=1000, threshold=threshold, pretokenizer=pretokenizer
    )
