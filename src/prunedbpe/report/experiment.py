"""One experiment of a study: merges learned on one corpus, pruned by every policy, measured on all.

Lengths come from the applied counts, not from encoding: a cell is one pass over the merge list.
Only the minimum-token lengths read the chunks again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from prunedbpe._support.digests import digest_arrays
from prunedbpe._support.progress import Progress
from prunedbpe.analysis.sweeping import GROWTH
from prunedbpe.baselines import Selection, learn_picky, scaffold, standard, trim
from prunedbpe.counts import ChunkCounts, SourceCounts
from prunedbpe.errors import InsufficientCandidatesError
from prunedbpe.merges import Applied, Learner, MergeTable, replay
from prunedbpe.report.cache import StudyCache
from prunedbpe.report.results import AUTO, CHOSEN, STANDARD, Cell, VocabularyFacts
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.shortest import ShortestSegmenter
from prunedbpe.training import prune
from prunedbpe.types import SEGMENTATIONS, Segmentation
from prunedbpe.visibility.exposure import total_tokens
from prunedbpe.visibility.policy import VisibilityPolicy
from prunedbpe.visibility.threshold import required_tokens

TRIMMING = "Trimming"
SCAFFOLD = "Scaffold-BPE"
PICKY = {"Picky BPE 0.9": "0.9", "Picky BPE 0.7": "0.7"}
BOUND = "Shortest on Standard"
BASELINES = [TRIMMING, SCAFFOLD, *PICKY, BOUND]


class Experiment:
    """Merges learned on one corpus of a study, and every measurement on them.

    Args:
        name: Name of the corpus.
        counts: Its chunk counts.
        parts: The two corpora to measure on, by name.
        whole: Name of both together.
        sources: The corpus counted by source, for automatic visibility.
        cache: Results of earlier runs.
        special_tokens: Reserved tokens.
        threads: One per core by default.
        progress: Progress reporter.
    """

    def __init__(
        self,
        name: str,
        counts: ChunkCounts,
        parts: Mapping[str, ChunkCounts],
        whole: str,
        *,
        sources: SourceCounts,
        cache: StudyCache,
        special_tokens: tuple[str, ...],
        threads: int | None,
        progress: Progress,
    ) -> None:
        self.name = name
        self.counts = counts
        self._parts = parts
        self._whole = whole
        self._sources = sources
        self._cache = cache
        self._special_tokens = special_tokens
        self._threads = threads
        self._progress = progress
        self._learner = Learner(counts, cache.merges(counts), threads=threads, progress=progress)
        self.merges = MergeTable.from_pairs([])
        self.applied: dict[str, Applied] = {}
        self.tokenizers: dict[tuple[int, str], Tokenizer] = {}

    def learn(self, merge_count: int) -> None:
        """Learn up to ``merge_count`` merges, and cache them."""
        before = len(self.merges)
        self.merges = self._learner.reach(merge_count)
        if len(self.merges) > before:
            self._cache.keep_merges(self.counts, self.merges)

    def learn_for(self, sizes: Sequence[int], policies: Sequence[str]) -> None:
        """Learn the merges that all sizes and policies need, and 2,000 more for the growth."""
        most = max(self._required(size) for size in sizes)
        wanted = most + GROWTH
        if AUTO in policies:
            for segmentation in SEGMENTATIONS:
                policy = VisibilityPolicy(AUTO, segmentation=segmentation)
                wanted = max(wanted, int(most * policy.ratio))
        self.learn(wanted)

    def fills(self, size: int, threshold: str) -> bool:
        """Return whether enough tokens reach the threshold to fill this size."""
        try:
            self._tokenizer(size, threshold)
        except InsufficientCandidatesError:
            return False
        return True

    def _tokenizer(self, size: int, policy: str, segmentation: Segmentation = "rank") -> Tokenizer:
        try:
            return prune(
                self._learner,
                size,
                threshold=0 if policy == STANDARD else policy,
                segmentation=segmentation,
                special_tokens=self._special_tokens,
                sources=self._sources,
                counts=self.counts,
                threads=self._threads,
                progress=False,
            )
        except InsufficientCandidatesError as error:
            raise InsufficientCandidatesError(
                f"{self.name}, size {size:,}, {policy}: {error.message}",
                hint="leave out this size, or use a larger corpus",
            ) from None

    def _required(self, size: int) -> int:
        return required_tokens(size, self._special_tokens)

    def choose(self, sizes: Sequence[int], policies: Sequence[str]) -> None:
        """Build the tokenizer of every size and policy."""
        with self._progress.task(
            f"{self.name}: pruning", total=len(sizes) * len(policies), unit="vocabularies"
        ) as task:
            for size in sizes:
                for policy in policies:
                    self.tokenizers[size, policy] = self._tokenizer(size, policy)
                    task.advance(1)
        self.learn(0)  # picks up the merges that reallocation added

    def replay(self) -> None:
        """Replay the merges on both parts; replacements add up to those on the whole."""
        for part, counts in self._parts.items():
            self.applied[part] = (
                self.merges.applied
                if part == self.name
                else replay(self.merges, counts, threads=self._threads)
            )
        one, other = (self.applied[part] for part in self._parts)
        self.applied[self._whole] = one + other

    def cells(self, sizes: Sequence[int], policies: Sequence[str]) -> list[Cell]:
        """Measure every policy on every corpus, by rank and in the fewest tokens."""
        cells = []
        with self._progress.task(
            f"{self.name}: shortest", total=len(sizes) * len(policies), unit="vocabularies"
        ) as task:
            for size in sizes:
                for policy in policies:
                    selection = Selection(~self.tokenizers[size, policy].vocabulary.visible)
                    shortest = self._shortest(selection)
                    for corpus, applied in self.applied.items():
                        length = selection.length(self.merges.pairs, applied)
                        cells.append(
                            Cell(self.name, size, policy, corpus, length, shortest[corpus])
                        )
                    task.advance(1)
        return cells

    def _shortest(self, selection: Selection) -> dict[str, int]:
        """Return the minimum-token lengths of each part and of the whole."""
        identity = digest_arrays(self.merges.pairs[: selection.merge_count], selection.hidden)
        lengths = {}
        for part, counts in self._parts.items():

            def measure(counts: ChunkCounts = counts) -> list[int]:
                segmenter = ShortestSegmenter(selection.visible_strings(self.merges))
                return [segmenter.total_length(counts, threads=self._threads)]

            name = f"shortest {identity} {counts.digest}"
            (lengths[part],) = self._cache.numbers(name, measure)
        return {**lengths, self._whole: sum(lengths.values())}

    def growth(self, sizes: Sequence[int]) -> list[Cell]:
        """Measure Standard BPE with 2,000 more tokens, if the corpus supports them."""
        return [
            Cell(self.name, size, STANDARD, corpus, total_tokens(applied, required + GROWTH))
            for size in sizes
            if (required := self._required(size)) + GROWTH <= len(self.merges)
            for corpus, applied in self.applied.items()
        ]

    def facts(
        self, sizes: Sequence[int], policies: Sequence[str], thresholds: Sequence[str]
    ) -> list[VocabularyFacts]:
        """Count internal tokens, and check that the sets are nested over the thresholds."""
        found = []
        for size in sizes:
            smaller: set[int] | None = None
            for policy in policies:
                tokenizer = self.tokenizers[size, policy]
                internal = set(np.flatnonzero(~tokenizer.vocabulary.visible).tolist())
                nested = None
                if policy in thresholds:
                    nested = None if smaller is None else smaller <= internal
                    smaller = internal
                found.append(
                    VocabularyFacts(
                        self.name,
                        size,
                        policy,
                        internal=len(internal),
                        retained=len(tokenizer.vocabulary.pairs),
                        min_exposure=tokenizer.training.get("min_exposure"),
                        holds_smaller=nested,
                    )
                )
        return found

    def chosen(self, sizes: Sequence[int]) -> tuple[list[Cell], list[VocabularyFacts]]:
        """Choose tokens for the shortest segmentation, and measure them in it."""
        cells: list[Cell] = []
        facts: list[VocabularyFacts] = []
        for size in sizes:
            tokenizer = self._tokenizer(size, AUTO, "shortest")
            selection = Selection(~tokenizer.vocabulary.visible)
            facts.append(
                VocabularyFacts(
                    self.name, size, CHOSEN, selection.hidden_count, selection.merge_count
                )
            )
            cells += [
                Cell(self.name, size, CHOSEN, corpus, length, length)
                for corpus, length in self._shortest(selection).items()
            ]
        return cells, facts

    def baselines(
        self, sizes: Sequence[int], thresholds: Sequence[str]
    ) -> tuple[list[Cell], list[VocabularyFacts]]:
        """Measure the baselines; one without enough candidates at a size is left out."""
        cells: list[Cell] = []
        facts: list[VocabularyFacts] = []
        for size in sizes:
            required = self._required(size)
            # Trimming retains as many merges as the paper's largest threshold.
            extra = self.tokenizers[size, thresholds[-1]].vocabulary.internal_count
            for policy, select in (
                (TRIMMING, partial(trim, self.merges, required, extra)),
                (SCAFFOLD, partial(scaffold, self.merges, required)),
            ):
                try:
                    selection = select()
                except InsufficientCandidatesError:
                    continue
                facts.append(
                    VocabularyFacts(
                        self.name, size, policy, selection.hidden_count, selection.merge_count
                    )
                )
                for corpus, applied in self.applied.items():
                    length = selection.length(self.merges.pairs, applied)
                    cells.append(Cell(self.name, size, policy, corpus, length))
            bound = self._shortest(standard(self.merges, required))
            cells += [
                Cell(self.name, size, BOUND, corpus, length) for corpus, length in bound.items()
            ]
        for policy, threshold in PICKY.items():
            cells += self._picky(policy, threshold, sizes)
        return cells, facts

    def _picky(self, policy: str, threshold: str, sizes: Sequence[int]) -> list[Cell]:
        wanted = [self._required(size) for size in sizes]
        parts = list(self._parts)

        def compute() -> list[int]:
            learned = learn_picky(self.counts, max(wanted), threshold, progress=self._progress)
            changes = {
                part: learned.changes
                if part == self.name
                else learned.changes_on(counts, threads=self._threads)
                for part, counts in self._parts.items()
            }
            most = int(learned.present_after.max(initial=0))
            return [
                self._parts[part].total_bytes + int(changes[part][: learned.prefix(required)].sum())
                for required in wanted
                if required <= most
                for part in parts
            ]

        name = f"{policy} {self.counts.digest} {wanted} " + " ".join(
            counts.digest for counts in self._parts.values()
        )
        numbers = self._cache.numbers(name, compute)
        cells = []
        for place, size in enumerate(sizes[: len(numbers) // len(parts)]):
            lengths = numbers[place * len(parts) : (place + 1) * len(parts)]
            cells += [
                Cell(self.name, size, policy, part, length)
                for part, length in zip(parts, lengths, strict=True)
            ]
            cells.append(Cell(self.name, size, policy, self._whole, sum(lengths)))
        return cells
