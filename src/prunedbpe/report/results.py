"""Results of a study: plain numbers, saved as JSON; all tables and pages are made from these."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from prunedbpe._support.input_files import read_json
from prunedbpe.errors import FormatError

STANDARD = "Standard"
"""The policy that all others are compared with."""

AUTO = "auto"
"""Automatic visibility, by rank."""

CHOSEN = "Chosen for shortest"
"""Tokens chosen for the shortest segmentation, and measured in it."""


@dataclass(frozen=True)
class Cell:
    """One vocabulary on one corpus.

    Attributes:
        training: Corpus the merges were learned on.
        vocab_size: All a model sees.
        policy: ``Standard``, a threshold, ``auto`` or a baseline.
        corpus: The encoded corpus.
        length: Its encoded length in tokens.
        shortest: Its length in the minimum-token segmentation, if measured.
    """

    training: str
    vocab_size: int
    policy: str
    corpus: str
    length: int
    shortest: int | None = None


@dataclass(frozen=True)
class VocabularyFacts:
    """One vocabulary, independent of any corpus.

    Attributes:
        training: Corpus the merges were learned on.
        vocab_size: All a model sees.
        policy: As for a cell.
        internal: Number of internal tokens.
        retained: Number of learned tokens, visible and internal.
        min_exposure: The count the threshold comes to, if there is one.
        holds_smaller: Whether all internal tokens of the next smaller threshold are internal here.
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
    """An example of a token that was hidden or became visible."""

    change: str
    group: str
    token: str
    exposure: int
    instead: str
    example: str


@dataclass(frozen=True)
class SpotCheck:
    """A length verified by loading the exported tokenizer and encoding."""

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
    """All results of a study.

    Attributes:
        corpora: The two corpora, and both together.
        sizes: Vocabulary sizes.
        sizes_reason: ``given``, or why they were suggested.
        thresholds: Ratio thresholds, in ascending order.
        policies: Standard, the thresholds, and automatic visibility if included.
        baselines: Baselines, and tokens chosen for the shortest segmentation, in table order.
        cells: Every policy and baseline on every corpus.
        facts: Every vocabulary.
        growth: Standard BPE with ``growth_tokens`` more tokens, as cells.
        growth_tokens: Number of additional tokens.
        qualitative: Example tokens.
        qualitative_of: Training corpus, size and threshold of the examples.
        spot_checks: Lengths verified by encoding.
        settings: Pretokenizer, special tokens, versions, machine, command.
        seconds: Duration of each part.
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
        """Names of the training corpora."""
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
        """Return one vocabulary on one corpus."""
        return self._cells[training, vocab_size, policy, corpus]

    def has(self, training: str, vocab_size: int, policy: str, corpus: str) -> bool:
        """Return whether a cell exists: a baseline may lack candidates."""
        return (training, vocab_size, policy, corpus) in self._cells

    def fact(self, training: str, vocab_size: int, policy: str) -> VocabularyFacts:
        """Return the facts of one vocabulary."""
        return self._facts[training, vocab_size, policy]

    def reduction(self, training: str, vocab_size: int, policy: str, corpus: str) -> Fraction:
        """Return the exact share of tokens saved against Standard BPE of the same size."""
        standard = self.cell(training, vocab_size, STANDARD, corpus).length
        return share(standard - self.cell(training, vocab_size, policy, corpus).length, standard)

    def shortest_reduction(
        self, training: str, vocab_size: int, policy: str, corpus: str
    ) -> Fraction:
        """Return the same share, both sides in the minimum-token segmentation."""
        standard = self.cell(training, vocab_size, STANDARD, corpus).shortest
        length = self.cell(training, vocab_size, policy, corpus).shortest
        assert standard is not None and length is not None
        return share(standard - length, standard)

    def growth_reduction(self, training: str, vocab_size: int, corpus: str) -> Fraction | None:
        """Return the share saved by growing Standard BPE, if the corpus supports it."""
        grown = self._growth.get((training, vocab_size, corpus))
        if grown is None:
            return None
        standard = self.cell(training, vocab_size, STANDARD, corpus).length
        return share(standard - grown.length, standard)


def load_results(path: Path) -> StudyResults:
    """Read the ``study.json`` of a report.

    Raises:
        FormatError: The file is not one, or of another version.
    """
    found = read_json(path)
    try:
        rows: dict[str, Any] = {
            name: [kind(**row) for row in found.pop(name)] for name, kind in _ROWS.items()
        }
        return StudyResults(**found, **rows)
    except (KeyError, TypeError) as error:
        raise FormatError(
            f"{path}: not the results of a study of this version: {error}",
            hint="give the study.json that `prunedbpe paper` wrote",
        ) from error


_ROWS: dict[str, type[Any]] = {
    "corpora": CorpusFacts,
    "cells": Cell,
    "facts": VocabularyFacts,
    "growth": Cell,
    "qualitative": QualitativeRow,
    "spot_checks": SpotCheck,
}


def share(part: int, whole: int) -> Fraction:
    """Return an exact share; the share of an empty whole is 0."""
    return Fraction(part, whole) if whole else Fraction(0)


def percent(value: Fraction, digits: int = 3) -> str:
    """Format a share as a percentage, rounded once from the exact fraction.

    >>> percent(Fraction(1, 8), 1), percent(Fraction(-1, 3)), percent(Fraction(1, 2000), 1)
    ('12.5', '-33.333', '0.0')
    """
    step = Decimal(1).scaleb(-digits)
    # 30 extra digits, so that the division cannot create a false tie.
    scaled = Decimal(value.numerator * 100 * 10**30 // value.denominator).scaleb(-30)
    rounded = scaled.quantize(step, ROUND_HALF_EVEN)
    return format(abs(rounded) if rounded == 0 else rounded, "f")
