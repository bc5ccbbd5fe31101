"""Audit of a tokenizer on a text: which tokens earn their slot.

In: any tokenizer, trained or imported, and text. Out: how often the text uses each token; unused
and rare tokens, whose embeddings a model barely trains ("glitch" tokens); how many slots a
threshold frees, and the cost; and the gain if merges learned on the text take these slots. One pass
over the text; the rest is the algebra of :mod:`prunedbpe.visibility.exposure`. If the segmentation
is ``shortest``, unique chunks are cut again instead.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prunedbpe._support.atomic_files import atomic_write
from prunedbpe._support.notebook_view import Share, view, view_table
from prunedbpe._support.progress import Progress, ProgressLike, as_progress
from prunedbpe._support.result_tables import ArrowExport, rows_to_arrow, text_or_none
from prunedbpe.analysis.retargeting import IdMap, id_map
from prunedbpe.analysis.token_uses import UseCounter
from prunedbpe.corpus import Corpus, CorpusInput
from prunedbpe.counts import ChunkCounts, count
from prunedbpe.exchange.any_tokenizer import open_tokenizer
from prunedbpe.merges import Learner, MergeTable, replay
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.tokenizer.shortest import shortest_lengths
from prunedbpe.training import prune
from prunedbpe.types import BYTE_COUNT, Int64Array, Segmentation, Settings
from prunedbpe.visibility.exposure import encoded_length, exposure, flow
from prunedbpe.visibility.policy import ThresholdLike
from prunedbpe.vocabulary.foreign_vocabulary import ForeignVocabulary

if TYPE_CHECKING:
    import pyarrow as pa

SCAFFOLD = 0.1
"""A token whose final share is below this is a scaffold."""

HARDLY = 10
"""By default, a token used fewer times than this is rare."""


@dataclass(frozen=True)
class TokenUse:
    """A token and how often the text uses it.

    Attributes:
        token_id: Its id.
        spelled: Its bytes.
        uses: How often it stands in the encoded text.
        built: How often merging builds it, also to merge it away again; ``None`` if no merge does.
    """

    token_id: int
    spelled: bytes
    uses: int
    built: int | None = None

    @property
    def final_share(self) -> float | None:
        """Final / (final + intermediate) use; low for tokens that mostly build others."""
        return self.uses / self.built if self.built else None

    def as_settings(self) -> Settings:
        """Return the token as a JSON object; bytes that are not UTF-8 are escaped."""
        text = self.spelled.decode("utf-8", "backslashreplace")
        share = self.final_share
        return {
            "id": self.token_id,
            "text": text,
            "uses": self.uses,
            "built": self.built,
            "final_share": None if share is None else round(share, 6),
        }


@dataclass(frozen=True)
class FreedSlots:
    """The effect of hiding every token below a number of uses.

    Attributes:
        min_uses: Tokens used fewer times are hidden; they still build longer ones.
        slots: Number of slots freed.
        tokens: Encoded length of the text with these slots empty.
    """

    min_uses: int
    slots: int
    tokens: int


@dataclass(frozen=True)
class Reallocated:
    """The effect of giving the slots to tokens learned on the text.

    Attributes:
        threshold: The rule that chose: ``auto`` or a number of uses.
        tokens: Encoded length of the text with the new vocabulary.
        kept: Tokens that keep their row of the embedding.
        new: Tokens that need a new row.
        dropped: Rows no longer needed.
        held_out_before: Encoded length of the held-out text with the original vocabulary.
        held_out_tokens: That with the new one. Without held-out text both are ``None``, and
            ``tokens`` is a figure on the text that the vocabulary was chosen on.
    """

    threshold: str
    tokens: int
    kept: int
    new: int
    dropped: int
    held_out_before: int | None = None
    held_out_tokens: int | None = None


@dataclass(frozen=True, eq=False)
class Audit(ArrowExport):
    """The result of an audit.

    Attributes:
        tokenizer: The audited tokenizer.
        segmentation: How chunks are cut into tokens; decides all figures but ``shortest``.
        text_bytes: Bytes of the text.
        tokens: Encoded length of the text.
        shortest: The fewest visible tokens for the text.
        uses: Every token but the special ones, by id.
        hardly: A token used fewer times than this is rare.
        freed: The effect of hiding rare tokens, by threshold.
    """

    tokenizer: Tokenizer
    segmentation: Segmentation
    text_bytes: int
    tokens: int
    shortest: int
    uses: Sequence[TokenUse]
    hardly: int
    freed: Sequence[FreedSlots]

    def __repr__(self) -> str:
        return (
            f"Audit(tokens={self.tokens}, learned={len(self.learned)}, never={len(self.never)}, "
            f"hardly_seen={len(self.hardly_seen)})"
        )

    def _repr_html_(self) -> str:
        facts = {
            "bytes": self.text_bytes,
            "tokens": self.tokens,
            "fewest possible": self.shortest,
            "learned tokens": len(self.learned),
            "never used": len(self.never),
            f"used under {self.hardly} times": len(self.hardly_seen),
        }
        freed = [
            [row.min_uses, row.slots, row.tokens, Share(row.tokens / max(self.tokens, 1) - 1)]
            for row in self.freed
        ]
        columns = ["hide tokens used fewer times than", "slots freed", "tokens", "longer by"]
        unused = [[use.token_id, use.spelled] for use in self.never[:10]]
        return view(
            "Audit",
            facts,
            view_table("What hiding rare tokens costs", columns, freed),
            view_table("Some tokens that are never used", ["token id", "token"], unused),
        )

    def to_arrow(self) -> pa.Table:
        """Return one row for each token but the special ones: id, bytes, text and uses."""
        rows = [
            {
                "token_id": use.token_id,
                "bytes": use.spelled,
                "text": text_or_none(use.spelled),
                "uses": use.uses,
            }
            for use in self.uses
        ]
        columns = {"token_id": "uint32", "bytes": "binary", "text": "string", "uses": "int64"}
        return rows_to_arrow(rows, columns)

    @property
    def learned(self) -> list[TokenUse]:
        """Tokens that pruning could hide: all but bytes and special tokens."""
        return [use for use in self.uses if len(use.spelled) > 1]

    @property
    def never(self) -> list[TokenUse]:
        """Learned tokens that the text never uses."""
        return [use for use in self.learned if use.uses == 0]

    @property
    def hardly_seen(self) -> list[TokenUse]:
        """Rare learned tokens: used, but fewer times than ``hardly``; the rarest first."""
        rare = [use for use in self.learned if 0 < use.uses < self.hardly]
        return sorted(rare, key=lambda use: use.uses)

    @property
    def scaffolds(self) -> list[TokenUse]:
        """Learned tokens that are built, and mostly merged away again; the lowest share first."""
        found = [use for use in self.learned if (use.final_share or 0) < SCAFFOLD and use.built]
        return sorted(found, key=lambda use: use.final_share or 0)

    def as_settings(self, examples: int = 20) -> Settings:
        """Return the audit as a JSON object, with some example tokens."""
        return {
            "vocab_size": self.tokenizer.vocab_size,
            "learned_tokens": len(self.learned),
            "segmentation": self.segmentation,
            "text_bytes": self.text_bytes,
            "tokens": self.tokens,
            "shortest": self.shortest,
            "never": len(self.never),
            "hardly_seen": len(self.hardly_seen),
            "hardly": self.hardly,
            "scaffolds": len(self.scaffolds),
            "freed": [asdict(row) for row in self.freed],
            "examples": {
                "never": [use.as_settings() for use in self.never[:examples]],
                "hardly_seen": [use.as_settings() for use in self.hardly_seen[:examples]],
                "scaffolds": [use.as_settings() for use in self.scaffolds[:examples]],
            },
        }

    def write_uses(self, path: str | Path) -> None:
        """Write one JSON line for every token, by id."""
        with atomic_write(path) as file:
            for use in self.uses:
                file.write(json.dumps(use.as_settings(), ensure_ascii=False).encode() + b"\n")


def audit(
    tokenizer: Any,
    corpus: CorpusInput | Corpus | ChunkCounts,
    *,
    segmentation: Segmentation | None = None,
    hardly: int = HARDLY,
    thresholds: Sequence[int] = (1, 10, 100),
    threads: int | None = None,
    progress: ProgressLike = None,
) -> Audit:
    """Count how often every token of a tokenizer is used on a text.

    Args:
        tokenizer: Trained or imported; or what
            :func:`~prunedbpe.exchange.any_tokenizer.open_tokenizer` imports: a fast tokenizer of
            transformers, a path, a name on the Hub.
        corpus: Paths, an iterable of texts, or counts made with the tokenizer's pretokenizer. For
            an imported tokenizer, chunks follow this library's version of Unicode, and text is not
            normalized.
        segmentation: How chunks are cut into tokens; by default as the tokenizer cuts them.
        hardly: A token used fewer times than this is rare.
        thresholds: Numbers of uses below which to hide tokens.
        threads: One per core by default.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    >>> import prunedbpe
    >>> tok = prunedbpe.train(["the cat in the hat", "that hat"], vocab_size=262, threshold=0)
    >>> found = audit(tok, iter(["the hat that"]))
    >>> [(use.spelled, use.uses) for use in found.learned]
    [(b'at', 2), (b'th', 2)]
    """
    progress = as_progress(progress)
    tokenizer = open_tokenizer(tokenizer)
    counts = _counts(tokenizer, corpus, threads, progress)
    counter = UseCounter(tokenizer, segmentation, threads=threads)
    measure = _by_rank if counter.segmentation == "rank" else _into_fewest
    uses, freed = measure(tokenizer, counts, thresholds, threads)
    return Audit(
        tokenizer,
        counter.segmentation,
        counts.total_bytes,
        sum(use.uses for use in uses),
        counter.fewest(counts),
        uses,
        hardly,
        freed,
    )


def _into_fewest(
    tokenizer: Tokenizer, counts: ChunkCounts, thresholds: Sequence[int], threads: int | None
) -> tuple[tuple[TokenUse, ...], tuple[FreedSlots, ...]]:
    """Return the uses and the freed slots when chunks are cut into the fewest tokens."""
    strings, ids = tokenizer.vocabulary.visible_strings
    by_id = UseCounter(tokenizer, "shortest", threads=threads).uses(counts)
    uses = sorted(
        (
            TokenUse(token_id, string, int(by_id[token_id]))
            for string, token_id in zip(strings, ids.tolist(), strict=True)
        ),
        key=lambda use: use.token_id,
    )
    freed = []
    for least in thresholds:
        left = [use.spelled for use in uses if use.uses >= least or len(use.spelled) == 1]
        length = shortest_lengths(left, counts, threads=threads)
        freed.append(FreedSlots(least, len(uses) - len(left), length))
    return tuple(uses), tuple(freed)


def _by_rank(
    tokenizer: Tokenizer, counts: ChunkCounts, thresholds: Sequence[int], threads: int | None
) -> tuple[tuple[TokenUse, ...], tuple[FreedSlots, ...]]:
    """Return the uses and the freed slots when chunks are merged by rank."""
    counts, whole = _without_whole_chunks(tokenizer, counts)
    merges = merges_on(tokenizer, counts, threads=threads)
    hidden = ~tokenizer.vocabulary.visible
    exposures = exposure(merges.pairs, merges.applied)
    flows = flow(merges.pairs, exposures, hidden)
    emitted = sum(whole.values())
    freed = []
    for least in thresholds:
        also = hidden.copy()
        also[BYTE_COUNT:] |= flows[BYTE_COUNT:] < least
        length = encoded_length(merges.pairs, merges.applied, also) + emitted
        idle = sum(uses < least for uses in whole.values())
        freed.append(FreedSlots(least, int((also & ~hidden).sum()) + idle, length))
    built = np.concatenate([np.zeros(BYTE_COUNT, np.int64), merges.applied.replacements])
    return _uses(tokenizer, flows, built, whole), tuple(freed)


def reallocate_slots(
    tokenizer: Tokenizer,
    corpus: CorpusInput | Corpus | ChunkCounts,
    *,
    threshold: ThresholdLike = "auto",
    segmentation: Segmentation | None = None,
    vocab_size: int | None = None,
    held_out: ChunkCounts | None = None,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> tuple[Tokenizer, IdMap, Reallocated]:
    """Learn further merges on a text, and choose the visible tokens again.

    Tokens that the text does not use are hidden or removed, and new tokens take their slots. The
    original merges stay, so a model keeps most rows of its embedding.

    Args:
        tokenizer: Trained or imported.
        corpus: As for :func:`audit`.
        threshold: ``"auto"``, or the number of uses a visible token needs, encoding by rank.
        segmentation: That of the new tokenizer, by default the original's; ``"auto"`` chooses the
            tokens for it.
        vocab_size: All a model sees; the original's number of tokens by default.
        held_out: Text that the choice does not see, to measure the gain on.
        threads: One per core by default.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.

    Returns:
        The new tokenizer with new ids, the map from its ids to the original's, and its effect on
        the text.

    Raises:
        InsufficientCandidatesError: The text has too few pairs that occur twice.
    """
    progress = as_progress(progress)
    text = _counts(tokenizer, corpus, threads, progress)
    # Only the original looks up whole chunks; the new tokenizer encodes them like any other.
    counts, _ = _without_whole_chunks(tokenizer, text)
    merges = merges_on(tokenizer, counts, threads=threads)
    specials = tokenizer.vocabulary.special_tokens
    if vocab_size is None:
        visible = int(tokenizer.vocabulary.visible.sum())
        vocab_size = visible + len(_unmergeable(tokenizer)) + len(specials)
    learner = Learner(counts, merges, threads=threads, progress=progress)
    reallocated = prune(
        learner,
        vocab_size,
        threshold=threshold,
        segmentation=segmentation or tokenizer.segmentation,
        special_tokens=specials,
        counts=counts,
        threads=threads,
        progress=progress,
    )
    length = UseCounter(reallocated, threads=threads).length(text)
    ids = id_map(tokenizer, reallocated)
    report = Reallocated(str(threshold), length, len(ids.kept), len(ids.new), len(ids.dropped))
    if held_out is not None:
        before = audit(tokenizer, held_out, segmentation=segmentation, threads=threads).tokens
        after = UseCounter(reallocated, threads=threads).length(held_out)
        report = replace(report, held_out_before=before, held_out_tokens=after)
    return reallocated, ids, report


def merges_on(
    tokenizer: Tokenizer, counts: ChunkCounts, *, threads: int | None = None
) -> MergeTable:
    """Return the merges of a tokenizer as if they had been learned on these counts.

    Learning can continue from this table. The frequency at which a pair was chosen is unknown; the
    number of replacements takes its place.
    """
    merges = MergeTable.from_pairs(tokenizer.vocabulary.pairs, tokenizer.pretokenizer)
    applied = replay(merges, counts, threads=threads)
    return replace(
        merges,
        frequencies=applied.replacements,
        applied=applied,
        corpus=counts.corpus,
        counts_digest=counts.digest,
    )


def _counts(
    tokenizer: Tokenizer,
    corpus: CorpusInput | Corpus | ChunkCounts,
    threads: int | None,
    progress: Progress,
) -> ChunkCounts:
    if isinstance(corpus, ChunkCounts):
        return corpus
    return count(corpus, pretokenizer=tokenizer.pretokenizer, threads=threads, progress=progress)


def _unmergeable(tokenizer: Tokenizer) -> dict[bytes, int]:
    vocabulary = tokenizer.vocabulary
    return dict(vocabulary.unmergeable) if isinstance(vocabulary, ForeignVocabulary) else {}


def _without_whole_chunks(
    tokenizer: Tokenizer, counts: ChunkCounts
) -> tuple[ChunkCounts, dict[bytes, int]]:
    """Separate the chunks that the original looks up as a whole, with their counts."""
    whole = dict.fromkeys(_unmergeable(tokenizer), 0)
    if not whole or not isinstance(tokenizer, ImportedTokenizer) or not tokenizer.whole_chunks:
        return counts, whole
    rest = {}
    for chunk, chunk_count in counts.items():
        if chunk in whole:
            whole[chunk] += chunk_count
        else:
            rest[chunk] = chunk_count
    if not any(whole.values()):
        return counts, whole
    return ChunkCounts.from_mapping(rest, counts.pretokenizer), whole


def _uses(
    tokenizer: Tokenizer, flows: Int64Array, built: Int64Array, whole: dict[bytes, int]
) -> tuple[TokenUse, ...]:
    vocabulary = tokenizer.vocabulary
    uses = [
        TokenUse(
            int(vocabulary.token_ids[rank]),
            vocabulary.strings[rank],
            int(flows[rank]),
            int(built[rank]) if rank >= BYTE_COUNT else None,
        )
        for rank in np.flatnonzero(vocabulary.visible).tolist()
    ]
    ids = _unmergeable(tokenizer)
    uses += [TokenUse(ids[string], string, times) for string, times in whole.items()]
    return tuple(sorted(uses, key=lambda use: use.token_id))
