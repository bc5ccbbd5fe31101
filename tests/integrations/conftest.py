"""Texts and small tokenizers for the tests against other libraries."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from random_texts import random_texts

import prunedbpe
from prunedbpe.types import DEFAULT_SPECIAL_TOKENS

TEXT_COUNT = int(os.environ.get("PRUNEDBPE_RANDOM_TEXTS", "10000"))
"""How many random texts each library encodes; a campaign sets it higher."""

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Random Unicode texts."""
    return random_texts(TEXT_COUNT)


@pytest.fixture(scope="session")
def long_texts() -> list[str]:
    """Real pages, and texts that are one chunk of 100,000 bytes for every pretokenizer."""
    pages = [*REPOSITORY.glob("docs/**/*.md"), *REPOSITORY.glob("src/**/*.py")]
    generator = random.Random(0)
    chunks = ["".join(generator.choices(letters, k=100_000)) for letters in ("abcdelst", "a", "st")]
    chunks += ["".join(generator.choices("中文字年月日カな", k=33_334))]
    return [*(page.read_text("utf-8") for page in sorted(pages)), *chunks]


def train_on(
    texts: list[str],
    pretokenizer: str,
    threshold: str = "0",
    segmentation: str = "rank",
    special_tokens: tuple[str, ...] = DEFAULT_SPECIAL_TOKENS,
) -> prunedbpe.Tokenizer:
    """Train a small tokenizer, many of whose merges apply to the texts."""
    return prunedbpe.train(
        iter(texts[:3000]),
        vocab_size=1000,
        threshold=threshold,
        segmentation=segmentation,
        pretokenizer=pretokenizer,
        special_tokens=special_tokens,
    )
