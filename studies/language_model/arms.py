"""The tokenizers that are compared.

In: the training side of the texts and a visible size. Out: one tokenizer for each arm, kept in the
cache folder, so that every worker loads the same. Merges are learned once for each size.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import prunedbpe
from prunedbpe import Learner, SourceCounts, Tokenizer
from studies.language_model.texts import Texts

REFERENCE = "standard"
GROWTH = 2_000
NULL_WEIGHTS = 1_000
"""Added to the seed of the initial weights in the null arm."""


@dataclass(frozen=True)
class Arm:
    """One way to cut the same text.

    Attributes:
        title: For pages.
        tokenizer: Name of its tokenizer, shared by arms that differ in something else.
        weights: Added to the seed of the initial weights.
        byte_context: Whether it takes part in the variant with rows of bytes.
    """

    title: str
    tokenizer: str
    weights: int = 0
    byte_context: bool = False


ARMS = {
    REFERENCE: Arm("Standard", "standard", byte_context=True),
    "threshold-40": Arm("40 %, by rank", "threshold-40"),
    "auto-rank": Arm("auto, by rank", "auto-rank"),
    "standard-shortest": Arm(
        "Standard vocabulary, shortest", "standard-shortest", byte_context=True
    ),
    "chosen-shortest": Arm("chosen for shortest", "chosen-shortest", byte_context=True),
    "standard-plus-2000": Arm("Standard, 2,000 more tokens", "standard-plus-2000"),
    "null": Arm("Standard, other weights (null)", "standard", weights=NULL_WEIGHTS),
}


def make_tokenizers(texts: Texts, size: int, folder: Path) -> dict[str, Tokenizer]:
    """Load the tokenizers of a size, or train them.

    Args:
        texts: The training side is learned on, each file a source.
        size: All a model sees.
        folder: The cache; tokenizers of other texts or sizes are kept apart.
    """
    home = folder / "tokenizers" / f"{texts.digests['train']}-{size}"
    names = list(dict.fromkeys(arm.tokenizer for arm in ARMS.values()))
    if not all((home / name).is_dir() for name in names):
        for name, tokenizer in train_tokenizers(texts, size).items():
            tokenizer.save(home / name)
    return {name: Tokenizer.load(home / name) for name in names}


def train_tokenizers(texts: Texts, size: int) -> dict[str, Tokenizer]:
    """Learn once, decide five times, and grow Standard BPE."""
    by_source: dict[str, list[str]] = {}
    for document in texts.train:
        by_source.setdefault(f"{document.part}/{document.source}", []).append(document.text)
    sources = SourceCounts.from_tables(
        list(by_source), [prunedbpe.count(iter(found)) for found in by_source.values()]
    )
    learner = Learner(sources.total)

    def decided(threshold: str, segmentation: str, more: int = 0) -> Tokenizer:
        return prunedbpe.prune(
            learner,
            size + more,
            threshold=threshold,
            segmentation=segmentation,
            counts=sources.total,
            **({"sources": sources} if threshold == "auto" else {}),
        )

    return {
        "standard": decided("0", "rank"),
        "threshold-40": decided("40%", "rank"),
        "auto-rank": decided("auto", "rank"),
        "standard-shortest": decided("0", "shortest"),
        "chosen-shortest": decided("auto", "shortest"),
        "standard-plus-2000": decided("0", "rank", more=GROWTH),
    }
