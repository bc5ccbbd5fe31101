"""What a study finds: plain numbers, saved as JSON; tables and pages are made from these alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from prunedbpe._support.atomic_files import write_json

STANDARD = "Standard"
"""The policy every other one is compared with."""


@dataclass(frozen=True)
class Cell:
    """One vocabulary on one corpus.

    Attributes:
        training: Corpus the merges were learned on.
        vocab_size: All a model sees.
        policy: ``Standard``, a threshold, ``auto`` or a baseline.
        corpus: Corpus that is encoded.
        length: Its tokens.
        shortest: Its tokens in the minimum-token segmentation; ``None`` where not asked for.
    """

    training: str
    vocab_size: int
    policy: str
    corpus: str
    length: int
    shortest: int | None = None


@dataclass(frozen=True)
class VocabularyFacts:
    """One vocabulary, whatever it encodes.

    Attributes:
        training: Corpus the merges were learned on.
        vocab_size: All a model sees.
        policy: As for a cell.
        internal: Internal tokens.
        retained: Learned tokens in all, visible and internal.
        min_exposure: The count the threshold comes to; ``None`` where there is no threshold.
        holds_smaller: Whether the internal tokens of the threshold before are internal here too.
    """

    training: str
    vocab_size: int
    policy: str
    internal: int
    retained: int
    min_exposure: int | None = None
    holds_smaller: bool | None = None


@dataclass(frozen=True)
class QualitativeRow:
    """A token that changed sides: out of sight, or into the slot that became free."""

    change: str
    group: str
    token: str
    exposure: int
    instead: str
    example: str


@dataclass(frozen=True)
class SpotCheck:
    """A length of the tables, found again by loading the exported tokenizer and encoding."""

    training: str
    vocab_size: int
    policy: str
    corpus: str
    expected: int
    encoded: int


@dataclass(frozen=True)
class CorpusFacts:
    """A corpus of the study."""

    name: str
    documents: int
    bytes: int
    unique_chunks: int
    unique_bytes: int


@dataclass(frozen=True)
class StudyResults:
    """Everything a study found.

    Attributes:
        corpora: The two corpora, and both together.
        sizes: Vocabulary sizes.
        sizes_reason: How they came about.
        thresholds: The paper's thresholds, rising.
        policies: Standard, the thresholds, and automatic visibility if it was asked for.
        baselines: Baselines, in the order of the table.
        cells: Policies and baselines on corpora.
        facts: Internal counts of policies, baselines and Standard.
        growth: Lengths of Standard BPE with ``growth_tokens`` more tokens, as cells.
        growth_tokens: How many more.
        qualitative: Tokens that changed sides.
        qualitative_of: Training and size they come from.
        spot_checks: Lengths found again by really encoding.
        settings: Pretokenizer, special tokens, versions, machine, command.
        seconds: How long each part took.
    """

    corpora: list[CorpusFacts]
    sizes: list[int]
    sizes_reason: str
    thresholds: list[str]
    policies: list[str]
    baselines: list[str]
    cells: list[Cell]
    facts: list[VocabularyFacts]
    growth: list[Cell]
    growth_tokens: int
    qualitative: list[QualitativeRow]
    qualitative_of: str
    spot_checks: list[SpotCheck] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def trainings(self) -> list[str]:
        """Names of the corpora merges were learned on."""
        return [corpus.name for corpus in self.corpora]

    @cached_property
    def _cells(self) -> dict[tuple[str, int, str, str], Cell]:
        return {(c.training, c.vocab_size, c.policy, c.corpus): c for c in self.cells}

    @cached_property
    def _growth(self) -> dict[tuple[str, int, str], Cell]:
        return {(c.training, c.vocab_size, c.corpus): c for c in self.growth}

    @cached_property
    def _facts(self) -> dict[tuple[str, int, str], VocabularyFacts]:
        return {(f.training, f.vocab_size, f.policy): f for f in self.facts}

    def cell(self, training: str, vocab_size: int, policy: str, corpus: str) -> Cell:
        """One vocabulary on one corpus."""
        return self._cells[training, vocab_size, policy, corpus]

    def has(self, training: str, vocab_size: int, policy: str, corpus: str) -> bool:
        """Whether there is such a cell: a baseline may lack candidates."""
        return (training, vocab_size, policy, corpus) in self._cells

    def fact(self, training: str, vocab_size: int, policy: str) -> VocabularyFacts:
        """One vocabulary."""
        return self._facts[training, vocab_size, policy]

    def reduction(self, training: str, vocab_size: int, policy: str, corpus: str) -> Fraction:
        """How much shorter than Standard BPE of the same size, exactly."""
        standard = self.cell(training, vocab_size, STANDARD, corpus).length
        return share(standard - self.cell(training, vocab_size, policy, corpus).length, standard)

    def shortest_reduction(
        self, training: str, vocab_size: int, policy: str, corpus: str
    ) -> Fraction:
        """The same, both in the minimum-token segmentation."""
        standard = self.cell(training, vocab_size, STANDARD, corpus).shortest
        length = self.cell(training, vocab_size, policy, corpus).shortest
        assert standard is not None and length is not None
        return share(standard - length, standard)

    def growth_reduction(self, training: str, vocab_size: int, corpus: str) -> Fraction | None:
        """How much shorter Standard BPE gets by more tokens; ``None`` if so many do not exist."""
        grown = self._growth.get((training, vocab_size, corpus))
        if grown is None:
            return None
        standard = self.cell(training, vocab_size, STANDARD, corpus).length
        return share(standard - grown.length, standard)

    def save(self, path: Path) -> None:
        """Write as JSON."""
        write_json(path, asdict(self))


def share(part: int, whole: int) -> Fraction:
    """A share of integers, kept exact until it is shown; a share of nothing is 0."""
    return Fraction(part, whole) if whole else Fraction(0)


def percent(value: Fraction, digits: int = 3) -> str:
    """A share as a percentage, rounded once, from the exact fraction.

    >>> percent(Fraction(1, 8), 1), percent(Fraction(-1, 3)), percent(Fraction(1, 2000), 1)
    ('12.5', '-33.333', '0.0')
    """
    step = Decimal(1).scaleb(-digits)
    # Enough digits that the division cannot turn a value into a tie that it is not.
    scaled = Decimal(value.numerator * 100 * 10**30 // value.denominator).scaleb(-30)
    rounded = scaled.quantize(step, ROUND_HALF_EVEN)
    return format(abs(rounded) if rounded == 0 else rounded, "f")
