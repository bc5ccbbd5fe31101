"""Text to train on, and the comparison of what came out."""

from __future__ import annotations

import random
from pathlib import Path


def make_text(seed: int, lines: int) -> str:
    """Lines of words of some pseudo-language, the same for the same seed."""
    source = random.Random(seed)
    syllables = [a + b for a in "bdklmnrst" for b in ("a", "en", "io", "u", "é", "中")]
    lexicon = ["".join(source.choices(syllables, k=source.randint(1, 4))) for _ in range(3000)]
    weights = [1 / (place + 1) for place in range(len(lexicon))]
    words = iter(source.choices(lexicon, weights, k=lines * 12))
    return "".join(" ".join(next(words) for _ in range(12)) + "\n" for _ in range(lines))


def same_tokenizer(one: Path, other: Path) -> bool:
    """Whether two tokenizer folders are equal to the byte."""
    names = ("vocab.txt", "inter_vocab.txt", "prunedbpe.json")
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in names)
