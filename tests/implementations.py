"""The implementations of one behaviour, side by side: plain Python and native with several threads.

A test takes an implementation as a parameter and knows only these functions, so that what holds for
one is asked of all. Native learning splits merges of a few occurrences between threads here, and
does only smaller ones several at a time; with the usual limit a small corpus would not be split.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import prunedbpe
from prunedbpe import ChunkCounts, Learner, MergeTable, Tokenizer, Vocabulary, _core, reference
from prunedbpe.reference import Learned, Pair, PrunedVocabulary

NATIVE_THREADS = (1, 2, 7)
"""One, as many as any machine has, and a number that divides nothing well."""

SPLIT_FROM = 3
"""Occurrences from which on a merge is split between threads."""


@dataclass(frozen=True)
class PlainPython:
    """The definition."""

    name: str = "plain-python"

    def learn(
        self, counts: Mapping[bytes, int], merge_count: int, merges: Sequence[Pair] = ()
    ) -> Learned:
        return reference.learn(counts, merge_count, merges)

    def replay(self, merges: Sequence[Pair], counts: Mapping[bytes, int]) -> list[int]:
        return reference.replay(merges, counts)


@dataclass(frozen=True)
class Native:
    """The native core."""

    threads: int

    @property
    def name(self) -> str:
        return f"native-{self.threads}"

    def learn(
        self, counts: Mapping[bytes, int], merge_count: int, merges: Sequence[Pair] = ()
    ) -> Learned:
        table = ChunkCounts.from_mapping(counts)
        given = self.merge_table(table, merges) if merges else None
        learner = Learner(table, given, threads=self.threads, split_from=SPLIT_FROM)
        return learned_of(learner.reach(merge_count))

    def merge_table(self, counts: ChunkCounts, merges: Sequence[Pair]) -> MergeTable:
        """A checkpoint after these merges, as learning them would have left it."""
        learner = Learner(counts, threads=self.threads, split_from=SPLIT_FROM)
        found = learner.reach(len(merges))
        assert learned_of(found).merges == list(merges)
        return found

    def replay(self, merges: Sequence[Pair], counts: Mapping[bytes, int]) -> list[int]:
        table = ChunkCounts.from_mapping(counts)
        applied = prunedbpe.replay(MergeTable.from_pairs(list(merges)), table, threads=self.threads)
        assert applied.byte_counts.sum() == table.total_bytes
        return applied.replacements.tolist()


@dataclass(frozen=True)
class NativeWide(Native):
    """The native core with the 64-bit positions of a corpus beyond 4 GiB of unique bytes."""

    @property
    def name(self) -> str:
        return f"native-wide-{self.threads}"

    def learn(
        self, counts: Mapping[bytes, int], merge_count: int, merges: Sequence[Pair] = ()
    ) -> Learned:
        table = ChunkCounts.from_mapping(counts)
        given = np.array(merges, np.uint32).reshape(-1, 2) if merges else None
        learner = _core.Learner(*table.columns[:3], given, self.threads, SPLIT_FROM, narrow_slots=0)
        learner.advance(merge_count - len(merges), float("inf"))
        before = super().learn(counts, len(merges))
        pairs, frequencies, applied = (column.tolist() for column in learner.learned())
        return Learned(
            before.merges + [(left, right) for left, right in pairs],
            before.frequencies + frequencies,
            before.applied + applied,
        )


NATIVE = tuple(Native(threads) for threads in NATIVE_THREADS)
WIDE = tuple(NativeWide(threads) for threads in NATIVE_THREADS)
IMPLEMENTATIONS = (PlainPython(), *NATIVE, *WIDE)


def learned_of(merges: MergeTable) -> Learned:
    """A merge table as the plain Python has it."""
    return Learned(
        [(left, right) for left, right in merges.pairs.tolist()],
        merges.frequencies.tolist(),
        merges.applied.replacements.tolist(),
    )


def plain_vocabulary(vocabulary: Vocabulary) -> PrunedVocabulary:
    """A vocabulary as the plain Python has it."""
    ranks = range(256, len(vocabulary.visible))
    return PrunedVocabulary(
        merges=[(left, right) for left, right in vocabulary.pairs.tolist()],
        visible=[rank for rank in ranks if vocabulary.visible[rank]],
        internal=[rank for rank in ranks if not vocabulary.visible[rank]],
        token_ids=dict(enumerate(vocabulary.token_ids.tolist())),
        special_tokens=vocabulary.special_tokens,
        min_exposure=0,
    )


def native_vocabulary(
    merges: Sequence[Pair], hidden: set[int], special_tokens: Sequence[str] = ()
) -> Vocabulary:
    """A vocabulary of these merges with some of its tokens hidden."""
    visible = np.ones(256 + len(merges), bool)
    visible[sorted(hidden)] = False
    pairs = np.array(merges, np.uint32).reshape(-1, 2)
    return Vocabulary(pairs, visible, tuple(special_tokens))


def native_tokenizer(
    merges: Sequence[Pair], hidden: set[int], pretokenizer: str = "none"
) -> Tokenizer:
    """A tokenizer of these merges with some of its tokens hidden, and no special tokens."""
    return Tokenizer(native_vocabulary(merges, hidden), pretokenizer)
