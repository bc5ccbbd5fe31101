"""The visibility policy: every option that decides which tokens a model sees, in one object.

It travels from the command line to the decision (:func:`prunedbpe.training.decide`). On the way,
the corpora it names are counted: :meth:`VisibilityPolicy.counted` replaces them by their counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Literal, TypedDict

from prunedbpe._support.arguments import check_names, check_type, wrong_type
from prunedbpe.corpus import Corpus, CorpusInput
from prunedbpe.counts import ChunkCounts, SourceCounts
from prunedbpe.counts.source_weights import match_weights, parts_of_files
from prunedbpe.counts.sources import WHOLE_CORPUS, SourceKind
from prunedbpe.errors import SettingsError
from prunedbpe.types import FloatArray, Segmentation, Settings, check_segmentation
from prunedbpe.visibility.source_values import CAUTIOUS, TRUSTING, ValueRule
from prunedbpe.visibility.threshold import Threshold, check_cap

CANDIDATE_RATIOS: dict[Segmentation, float] = {"rank": 1.8, "shortest": 2.5}
"""Merges that ``auto`` chooses from by default, per visible learned token, by segmentation."""

ThresholdLike = Literal["auto"] | str | int | float | Threshold


def is_auto(threshold: ThresholdLike) -> bool:
    """Whether a threshold means the automatic choice.

    >>> is_auto("auto"), is_auto(" Auto"), is_auto("40%")
    (True, True, False)
    """
    return isinstance(threshold, str) and threshold.strip().lower() == "auto"


class PolicyChoices(TypedDict, total=False):
    """The fields of :class:`VisibilityPolicy`, as keyword arguments of ``train`` and ``prune``."""

    threshold: ThresholdLike
    max_train_vocab: int | None
    segmentation: Segmentation
    candidate_ratio: float | None
    sources: SourceKind | SourceCounts
    source_weights: Mapping[str, float] | None
    trust_corpus: bool
    validation: CorpusInput | Corpus | ChunkCounts | None


@dataclass(frozen=True)
class VisibilityPolicy:
    """How to choose the visible tokens.

    Attributes:
        threshold: ``"40%"`` of the boundary frequency, a count, 0 for Standard BPE, or ``"auto"``.
        max_train_vocab: Upper bound of bytes and learned tokens.
        segmentation: How the tokenizer will cut text: ``"rank"`` or ``"shortest"``. With ``"auto"``
            the tokens are chosen for it.
        candidate_ratio: With ``"auto"``: merges to choose from, per visible learned token; 1.8 for
            encoding by rank and 2.5 for the shortest segmentation by default.
        sources: With ``"auto"``: what counts as one source of the corpus; or the counted sources.
        source_weights: With ``"auto"``: what the sources weigh, by name or pattern; 1 by default.
            0 means that a source may get longer.
        trust_corpus: With ``"auto"``: whether text to come is just like the corpus. The corpus gets
            shorter, other text may get longer.
        validation: With ``"auto"``: text whose encoded length decides; a corpus or its counts.

    >>> VisibilityPolicy("40%").threshold
    Threshold(text='40%', ratio=Fraction(2, 5), count=None)
    >>> VisibilityPolicy("auto", candidate_ratio=0.5)
    Traceback (most recent call last):
    prunedbpe.errors.SettingsError: candidate_ratio is 0.5
    hint: use 1 or more
    """

    threshold: ThresholdLike = "40%"
    max_train_vocab: int | None = None
    segmentation: Segmentation = "rank"
    candidate_ratio: float | None = None
    sources: SourceKind | SourceCounts = "files"
    source_weights: Mapping[str, float] | None = None
    trust_corpus: bool = False
    validation: CorpusInput | Corpus | ChunkCounts | None = None

    def __post_init__(self) -> None:
        check_segmentation(self.segmentation)
        if is_auto(self.threshold):
            object.__setattr__(self, "threshold", "auto")
        else:
            object.__setattr__(self, "threshold", Threshold.parse(self.threshold))
            self._refuse_options_of_auto()
        if self.candidate_ratio is not None and not isinstance(self.candidate_ratio, Real):
            raise wrong_type("candidate_ratio is a number", self.candidate_ratio)
        if self.candidate_ratio is not None and self.candidate_ratio < 1:
            raise SettingsError(
                f"candidate_ratio is {self.candidate_ratio:g}", hint="use 1 or more"
            )
        if self.trust_corpus and self.validation is not None:
            raise SettingsError(
                "validation text decides whether to trust the corpus", hint="give one of the two"
            )

    def _refuse_options_of_auto(self) -> None:
        for given, name in (
            (self.validation is not None, "validation text"),
            (self.source_weights is not None, "weights of sources"),
            (self.trust_corpus, "trust in the corpus"),
        ):
            if given:
                raise SettingsError(
                    f"{name} needs the threshold auto, but the threshold is {self.name}",
                    hint="use the threshold auto, or leave it out",
                )

    @classmethod
    def of(cls, policy: VisibilityPolicy | None, choices: PolicyChoices) -> VisibilityPolicy:
        """Return the policy, or the default one, with single fields replaced."""
        check_names(choices, [field.name for field in fields(cls)])
        if policy is None:
            return cls(**choices)
        check_type("policy", policy, cls, "give VisibilityPolicy(threshold)")
        return replace(policy, **choices)

    @property
    def is_auto(self) -> bool:
        """Whether the choice is automatic, not the paper's threshold."""
        return not isinstance(self.threshold, Threshold)

    @property
    def name(self) -> str:
        """The threshold as a user writes it."""
        return self.threshold.text if isinstance(self.threshold, Threshold) else "auto"

    @property
    def ratio(self) -> float:
        """Merges to choose from, per visible learned token."""
        return self.candidate_ratio or CANDIDATE_RATIOS[self.segmentation]

    @property
    def rule(self) -> ValueRule:
        """What a saving is worth."""
        return TRUSTING if self.trust_corpus else CAUTIOUS[self.segmentation]

    @property
    def source_kind(self) -> SourceKind:
        """What counts as one source of a corpus that is still to be counted."""
        if not isinstance(self.sources, str):
            raise SettingsError(
                "the sources are counted already",
                hint="give train the kind of source: 'files', 'folders' or 'corpus'",
            )
        return self.sources

    @property
    def source_names(self) -> tuple[str, ...]:
        """The counted sources; the whole corpus, if nothing was counted by source."""
        return self.sources.names if isinstance(self.sources, SourceCounts) else (WHOLE_CORPUS,)

    def weights(self, rule: ValueRule) -> FloatArray:
        """What each of the counted sources weighs at first.

        The parts of a divided file weigh together as much as the file would: what is spread evenly
        over n parts is worth ``n ** (1 - exponent)`` times as much as in one piece.
        """
        given = match_weights(self.source_names, self.source_weights or {})
        return given * parts_of_files(self.source_names) ** (rule.exponent - 1)

    def describe_sources(self) -> Settings:
        """What counted as a source, as JSON."""
        if not isinstance(self.sources, SourceCounts):
            return {"sources": 0, "source_kind": "corpus", "source_note": ""}
        return {
            "sources": len(self.sources),
            "source_kind": self.sources.kind,
            "source_note": self.sources.note,
        }

    def check(self, required: int) -> None:
        """Validate the policy for a number of visible learned tokens, before any text is read.

        Raises:
            SettingsError: The cap leaves no room for them.
        """
        check_cap(required, self.max_train_vocab)

    def counted(
        self, sources: SourceCounts | None, validation: ChunkCounts | None
    ) -> VisibilityPolicy:
        """Return the policy with its corpora replaced by their counts."""
        return replace(
            self,
            sources=self.sources if sources is None else sources,
            validation=self.validation if validation is None else validation,
        )
