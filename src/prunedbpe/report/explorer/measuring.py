"""What text does with a tokenizer: exposures by source, examples, lengths and worths.

In: a tokenizer, and the chunk counts of a text, or the merges of its run. Out: arrays by rank, for
the page. Every unique chunk is cut once; all figures come from that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prunedbpe import _core
from prunedbpe._support.threads import thread_count
from prunedbpe.counts import SourceCounts
from prunedbpe.counts.sources import short_names
from prunedbpe.errors import SettingsError
from prunedbpe.merges import Applied, MergeTable, check_same_merges, replay
from prunedbpe.report.explorer.example_chunks import Examples, find_examples
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.tokenizer.shortest import ShortestSegmenter
from prunedbpe.types import BYTE_COUNT, BoolArray, Int64Array, UInt32Array
from prunedbpe.visibility.fewest import FewestCorpus
from prunedbpe.visibility.threshold import required_tokens


@dataclass(frozen=True, eq=False)
class Measured:
    """What a text does with a tokenizer.

    Attributes:
        applied: What each retained merge does to the text.
        sources: Names of the sources; empty if the text itself is unknown.
        source_bytes: Bytes of each source.
        exposures: By rank and source, in the tokenizer's own segmentation.
        lengths: Tokens of each source: Standard BPE of the same size, and the tokenizer.
        shortest: Tokens of the text, cut into the fewest visible ones.
        worths: By rank, what the text loses without a visible token or gains with an internal one.
            Only for the fewest tokens: by rank, the page computes it.
        examples: Chunks in which each token stands.
        other_lengths: Tokens of each source with the tokenizer compared with, if they are known.
    """

    applied: Applied
    sources: tuple[str, ...] = ()
    source_bytes: Int64Array | None = None
    exposures: Int64Array | None = None
    lengths: tuple[Int64Array, Int64Array] | None = None
    shortest: int | None = None
    worths: Int64Array | None = None
    examples: Examples | None = None
    other_lengths: Int64Array | None = None


def measure(
    tokenizer: Tokenizer,
    sources: SourceCounts | None,
    *,
    merges: MergeTable | None = None,
    against: Tokenizer | None = None,
    threads: int | None = None,
) -> Measured:
    """Measure a tokenizer on a text.

    Args:
        tokenizer: The tokenizer.
        sources: The text, counted by the tokenizer's pretokenizer.
        merges: The merges of the run that made the tokenizer; without a text, only its exposures
            are known.
        against: A tokenizer to compare with. Its lengths are measured if it cuts text into the
            same chunks.
        threads: One per core by default.

    Raises:
        RunMismatchError: The merges belong to another tokenizer.
        SettingsError: Neither text nor merges are given, or the text is empty.

    >>> import prunedbpe
    >>> tok = prunedbpe.train(["hat hat hat that"], vocab_size=262, threshold=2)
    >>> counts = prunedbpe.count(iter(["a hat", "that hat"]))
    >>> measured = measure(tok, SourceCounts.single(counts))
    >>> measured.lengths[1].tolist(), measured.shortest  # a | ␣hat | t hat | ␣hat
    ([5], 5)
    """
    pairs = tokenizer.vocabulary.pairs
    if merges is not None:
        check_same_merges(pairs, merges.pairs)
    if sources is None:
        if merges is None:
            raise SettingsError("nothing to measure on", hint="give counts, or merges of a run")
        return Measured(merges.head(len(pairs)).applied)
    if not len(sources.total):
        raise SettingsError("the text is empty", hint="measure on text, or leave it out")
    table = MergeTable.from_pairs(pairs, tokenizer.pretokenizer)
    applied = merges.head(len(pairs)).applied if merges is not None else None
    if applied is None:
        applied = replay(table, sources.total, threads=threads)
    by_rank = _Segmentation.by_rank(tokenizer, sources, threads)
    required = required_tokens(tokenizer.vocabulary.visible_count, ())
    standard = _widths(pairs, np.arange(BYTE_COUNT + len(pairs)) < BYTE_COUNT + required)
    own, worths = by_rank, None
    widths = _widths(pairs, tokenizer.vocabulary.visible)
    if tokenizer.segmentation == "shortest":
        _check_mergeable(tokenizer)
        own = _Segmentation.shortest(tokenizer, sources, threads)
        widths = np.ones_like(widths)
        worths = _worths(tokenizer, table, sources, threads)
    token_lengths = np.diff(tokenizer.vocabulary.spelled[1])
    segmenter = ShortestSegmenter.of(tokenizer.vocabulary, tokenizer.pretokenizer)
    return Measured(
        applied=applied,
        sources=short_names(sources.names),
        source_bytes=sources.source_bytes,
        exposures=own.exposures,
        lengths=(standard @ by_rank.exposures, widths @ own.exposures),
        shortest=segmenter.total_length(sources.total, threads=threads),
        worths=worths,
        examples=find_examples(own.ranks, own.offsets, sources.total, token_lengths),
        other_lengths=_lengths(against, tokenizer, sources, threads),
    )


@dataclass(frozen=True, eq=False)
class _Segmentation:
    """Every unique chunk as ranks, and how often each rank stands in each source."""

    ranks: UInt32Array
    offsets: Int64Array
    exposures: Int64Array

    @classmethod
    def by_rank(
        cls, tokenizer: Tokenizer, sources: SourceCounts, threads: int | None
    ) -> _Segmentation:
        """Merge chunks, without expanding internal tokens."""
        ranks = np.arange(len(tokenizer.vocabulary.visible), dtype=np.uint32)
        identity = np.arange(len(ranks) + 1, dtype=np.int64)
        encoder = _core.Encoder(tokenizer.vocabulary.pairs, ranks, identity, "none")
        return cls._cut(encoder, len(ranks), sources, threads)

    @classmethod
    def shortest(
        cls, tokenizer: Tokenizer, sources: SourceCounts, threads: int | None
    ) -> _Segmentation:
        """Cut chunks into the fewest visible tokens."""
        vocabulary = tokenizer.vocabulary
        visible = np.flatnonzero(vocabulary.visible).astype(np.uint32)
        strings, _ = vocabulary.visible_strings
        segmenter = ShortestSegmenter(strings, "none", ids=visible)
        return cls._cut(segmenter.native, len(vocabulary.visible), sources, threads)

    @classmethod
    def _cut(
        cls,
        encoder: _core.Encoder | _core.ShortestEncoder,
        rank_count: int,
        sources: SourceCounts,
        threads: int | None,
    ) -> _Segmentation:
        chunks = sources.total
        spans = np.stack([chunks.offsets[:-1], chunks.offsets[1:]], axis=1)
        ranks, offsets = encoder.encode_documents(chunks.data, spans, thread_count(threads))
        tallied = _core.tally_by_source(
            *(ranks, offsets, sources.offsets, sources.sources, sources.counts),
            *(len(sources), rank_count),
        )
        return cls(ranks, offsets, tallied.reshape(rank_count, len(sources)))


def _widths(pairs: UInt32Array, visible: BoolArray) -> Int64Array:
    """By rank, how many visible tokens stand for it."""
    widths = visible.astype(np.int64)
    for rank in np.flatnonzero(~visible).tolist():  # parts come before what is made of them
        widths[rank] = widths[pairs[rank - BYTE_COUNT]].sum()
    return widths


def _worths(
    tokenizer: Tokenizer, merges: MergeTable, sources: SourceCounts, threads: int | None
) -> Int64Array:
    """By rank, how many tokens the text would need more without it, or fewer with it."""
    corpus = FewestCorpus(merges, SourceCounts.single(sources.total), threads=threads)
    visible = tokenizer.vocabulary.visible
    corpus.show(visible)
    return np.where(visible, corpus.losses[:, 0], corpus.gains[:, 0])


def _check_mergeable(tokenizer: Tokenizer) -> None:
    """Refuse an imported tokenizer that uses tokens without a rank."""
    if isinstance(tokenizer, ImportedTokenizer) and tokenizer.foreign.unmergeable:
        raise SettingsError(
            "the tokenizer takes the fewest tokens, and no merge makes some of them: they have no "
            "rank to measure",
            hint="explore it without text",
        )


def _lengths(
    other: Tokenizer | None, tokenizer: Tokenizer, sources: SourceCounts, threads: int | None
) -> Int64Array | None:
    """Tokens of each source with another tokenizer."""
    if other is None or other.pretokenizer != tokenizer.pretokenizer:
        return None
    if other.segmentation == "shortest":
        _check_mergeable(other)
        found = _Segmentation.shortest(other, sources, threads).exposures.sum(axis=0)
        return np.asarray(found, np.int64)
    exposures = _Segmentation.by_rank(other, sources, threads).exposures
    return _widths(other.vocabulary.pairs, other.vocabulary.visible) @ exposures
