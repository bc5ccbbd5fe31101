"""Audit of a finished tokenizer on a user's own text: which tokens earn their slot there.

In: any tokenizer, ours or imported, and text. Out: how often every token is emitted on that text,
the tokens that never or hardly are (a model hardly trains their rows: the later "glitch" tokens),
how many slots a threshold would free and what that costs, and what the freed slots are worth when
merges learned further on this text take them. One pass over the text; the rest is the algebra of
:mod:`prunedbpe.visibility.exposure`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from prunedbpe._support.atomic_files import atomic_write
from prunedbpe._support.progress import SILENT, Progress
from prunedbpe.analysis.retargeting import IdMap, id_map
from prunedbpe.corpus import Corpus, CorpusInput
from prunedbpe.counts import ChunkCounts, count
from prunedbpe.merges import Learner, MergeTable, replay
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.training import prune
from prunedbpe.types import BYTE_COUNT, Int64Array, Settings
from prunedbpe.visibility.exposure import encoded_length, exposure, flow
from prunedbpe.visibility.policy import ThresholdLike
from prunedbpe.vocabulary.foreign_vocabulary import ForeignVocabulary

HARDLY = 10
"""Tokens emitted fewer times than this are hardly seen, unless the user says otherwise."""


@dataclass(frozen=True)
class TokenUse:
    """One token that can be emitted, and how often it is."""

    token_id: int
    spelled: bytes
    uses: int

    def as_settings(self) -> Settings:
        """The token as a JSON object; bytes that are no text are shown escaped."""
        text = self.spelled.decode("utf-8", "backslashreplace")
        return {"id": self.token_id, "text": text, "uses": self.uses}


@dataclass(frozen=True)
class FreedSlots:
    """What hiding every token below a number of uses would do.

    Attributes:
        min_uses: Tokens used fewer times are hidden; they stay steps towards longer ones.
        slots: How many that are.
        tokens: Encoded length of the text afterwards, the slots left empty.
    """

    min_uses: int
    slots: int
    tokens: int


@dataclass(frozen=True)
class Reallocated:
    """What the same number of slots is worth when other tokens may take them.

    Attributes:
        threshold: The rule that chose, ``auto`` or a number of uses.
        tokens: Encoded length of the text with the new vocabulary.
        kept: Tokens that keep a row of the model.
        new: Tokens that need a new one.
        dropped: Rows no longer needed.
    """

    threshold: str
    tokens: int
    kept: int
    new: int
    dropped: int


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found.

    Attributes:
        tokenizer: What was audited.
        text_bytes: Bytes of the text.
        tokens: Tokens it encodes to.
        uses: Every token but the special ones, in order of id.
        hardly: Below this many uses a token is hardly seen.
        freed: What thresholds would free.
    """

    tokenizer: Tokenizer
    text_bytes: int
    tokens: int
    uses: Sequence[TokenUse]
    hardly: int
    freed: Sequence[FreedSlots]

    @property
    def learned(self) -> list[TokenUse]:
        """The tokens that pruning could take away: all but bytes and special tokens."""
        return [use for use in self.uses if len(use.spelled) > 1]

    @property
    def never(self) -> list[TokenUse]:
        """Learned tokens that the text never uses."""
        return [use for use in self.learned if use.uses == 0]

    @property
    def hardly_seen(self) -> list[TokenUse]:
        """Learned tokens used, but fewer times than ``hardly``; the rarest first."""
        rare = [use for use in self.learned if 0 < use.uses < self.hardly]
        return sorted(rare, key=lambda use: use.uses)

    def as_settings(self, examples: int = 20) -> Settings:
        """The audit as a JSON object, with some tokens of each kind."""
        return {
            "vocab_size": self.tokenizer.vocab_size,
            "learned_tokens": len(self.learned),
            "text_bytes": self.text_bytes,
            "tokens": self.tokens,
            "never": len(self.never),
            "hardly_seen": len(self.hardly_seen),
            "hardly": self.hardly,
            "freed": [asdict(row) for row in self.freed],
            "examples": {
                "never": [use.as_settings() for use in self.never[:examples]],
                "hardly_seen": [use.as_settings() for use in self.hardly_seen[:examples]],
            },
        }

    def write_uses(self, path: str | Path) -> None:
        """Write one JSON line for every token, in order of id."""
        with atomic_write(path) as file:
            for use in self.uses:
                file.write(json.dumps(use.as_settings(), ensure_ascii=False).encode() + b"\n")


def audit(
    tokenizer: Tokenizer,
    corpus: CorpusInput | Corpus | ChunkCounts,
    *,
    hardly: int = HARDLY,
    thresholds: Sequence[int] = (1, 10, 100),
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Audit:
    """Count how often every token of a tokenizer is used on a text.

    Args:
        tokenizer: Ours or imported.
        corpus: Paths, an iterable of texts, or counts cut by the tokenizer's pretokenizer. Text of
            an imported tokenizer is cut by our version of Unicode, without normalization.
        hardly: Below this many uses a token is hardly seen.
        thresholds: Numbers of uses to say for how many slots they would free.
        threads: One per core by default.
        progress: Who watches.

    >>> import prunedbpe
    >>> tok = prunedbpe.train(["the cat in the hat", "that hat"], vocab_size=262, threshold=0)
    >>> found = audit(tok, iter(["the hat that"]))
    >>> [(use.spelled, use.uses) for use in found.learned]
    [(b'at', 2), (b'th', 2)]
    """
    counts = _counts(tokenizer, corpus, threads, progress)
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
    return Audit(
        tokenizer,
        counts.total_bytes + sum(len(chunk) * uses for chunk, uses in whole.items()),
        encoded_length(merges.pairs, merges.applied, hidden) + emitted,
        _uses(tokenizer, flows, whole),
        hardly,
        tuple(freed),
    )


def reallocate_slots(
    tokenizer: Tokenizer,
    corpus: CorpusInput | Corpus | ChunkCounts,
    *,
    threshold: ThresholdLike = "auto",
    vocab_size: int | None = None,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> tuple[Tokenizer, IdMap, Reallocated]:
    """Learn on from a tokenizer's merges on a text, and choose anew which tokens a model sees.

    Tokens the text does not use become internal or leave; merges learned further take their
    slots. The merges of the original stay what they are, so a model keeps most of its rows.

    Args:
        tokenizer: Ours or imported.
        corpus: As for :func:`audit`.
        threshold: ``"auto"``, or the number of uses a visible token needs.
        vocab_size: All a model sees; by default as many tokens as the tokenizer has.
        threads: One per core by default.
        progress: Who watches.

    Returns:
        The new tokenizer under ids of our own, the map from its ids to the original's, and what
        it is worth on the text.

    Raises:
        InsufficientCandidatesError: The text has too few pairs that occur twice.
    """
    counts = _counts(tokenizer, corpus, threads, progress)
    counts, whole = _without_whole_chunks(tokenizer, counts)
    merges = merges_on(tokenizer, counts, threads=threads)
    specials = tokenizer.vocabulary.special_tokens
    if vocab_size is None:
        visible = int(tokenizer.vocabulary.visible.sum())
        vocab_size = visible + len(_unmergeable(tokenizer)) + len(specials)
    learner = Learner(counts, merges, threads=threads, progress=progress)
    reallocated = prune(learner, vocab_size, threshold=threshold, special_tokens=specials)
    ids = id_map(tokenizer, reallocated)
    report = Reallocated(
        str(threshold),
        # Chunks that only the original looks up as a whole are text like any other here.
        int(reallocated.training["encoded_length"]) + _length_of_chunks(reallocated, whole),
        len(ids.kept),
        len(ids.new),
        len(ids.dropped),
    )
    return reallocated, ids, report


def merges_on(
    tokenizer: Tokenizer, counts: ChunkCounts, *, threads: int | None = None
) -> MergeTable:
    """The merges of a tokenizer as if they had been learned on these counts.

    Learning can go on from such a table. The frequency of a pair when it was chosen is not known;
    in its place stands how often the merge is applied.
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
    """Take out chunks that the original looks up as a whole; how often each of them occurs."""
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


def _uses(tokenizer: Tokenizer, flows: Int64Array, whole: dict[bytes, int]) -> tuple[TokenUse, ...]:
    vocabulary = tokenizer.vocabulary
    uses = [
        TokenUse(int(vocabulary.token_ids[rank]), vocabulary.strings[rank], int(flows[rank]))
        for rank in np.flatnonzero(vocabulary.visible).tolist()
    ]
    ids = _unmergeable(tokenizer)
    uses += [TokenUse(ids[string], string, times) for string, times in whole.items()]
    return tuple(sorted(uses, key=lambda use: use.token_id))


def _length_of_chunks(tokenizer: Tokenizer, whole: dict[bytes, int]) -> int:
    chunks = {chunk: times for chunk, times in whole.items() if times}
    if not chunks:
        return 0
    counts = ChunkCounts.from_mapping(chunks, tokenizer.pretokenizer)
    applied = merges_on(tokenizer, counts).applied
    vocabulary = tokenizer.vocabulary
    return encoded_length(vocabulary.pairs, applied, ~vocabulary.visible)
