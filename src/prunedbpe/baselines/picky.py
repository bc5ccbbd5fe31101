"""Picky BPE: a token that a merge has mostly used up leaves the vocabulary and the corpus.

Chizhov et al. 2024, arXiv 2409.04599. Training produces merges and splits, and encoding replays
them in order. One training serves every smaller vocabulary, which is a prefix of the events. Each
event records how it changes the length of the corpus, so lengths need no encoding. Plain Python:
:func:`prunedbpe.reference.baselines.picky`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from prunedbpe import _core
from prunedbpe._support.progress import SILENT, Progress
from prunedbpe.counts import ChunkCounts
from prunedbpe.errors import InsufficientCandidatesError, PrunedBPEError, SettingsError
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.types import BYTE_COUNT, Int64Array, UInt32Array

_STEPS = 256
"""Merges between two progress reports, and between two checks for Ctrl-C."""

_SPLIT = 1


@dataclass(frozen=True, eq=False)
class PickyEvents:
    """Merges and splits in the order of training.

    Attributes:
        events: One row per event: ``0, left, right, token`` is a merge, ``1, begin, end, token`` a
            split of ``token`` into ``parts[begin:end]``. Tokens are numbered in order of creation.
        parts: The parts of all splits.
        changes: How many tokens each event adds to the training corpus; merges are negative.
        pretokenizer: The pretokenizer that cut that corpus.
    """

    events: UInt32Array
    parts: UInt32Array
    changes: Int64Array
    pretokenizer: Pretokenizer = field(default_factory=lambda: Pretokenizer("paper"))

    def __len__(self) -> int:
        return len(self.events)

    @cached_property
    def present_after(self) -> Int64Array:
        """Number of learned tokens in the vocabulary after each event."""
        present: set[int] = set()
        sizes = np.empty(len(self), np.int64)
        for place, (kind, _, _, token) in enumerate(self.events.tolist()):
            if kind == _SPLIT:
                present.remove(token)
            else:
                present.add(token)
            sizes[place] = len(present)
        return sizes

    def prefix(self, required: int) -> int:
        """Return the number of events in a training for ``required`` learned tokens.

        Raises:
            InsufficientCandidatesError: Training ended with fewer tokens.
        """
        if required == 0:
            return 0
        # A step is a merge and the splits that it causes.
        ends_step = np.append(self.events[1:, 0] != _SPLIT, True)
        enough = np.flatnonzero(ends_step & (self.present_after >= required))
        if not len(enough):
            most = int(self.present_after.max(initial=0))
            raise InsufficientCandidatesError(
                f"Picky BPE learned {most} tokens; this vocabulary needs {required}",
                hint="train it further, or choose a smaller vocabulary",
            )
        return int(enough[0]) + 1

    def changes_on(self, counts: ChunkCounts, *, threads: int | None = None) -> Int64Array:
        """Return how many tokens each event adds to another corpus."""
        native = _core.PickyEncoder(self.events.reshape(-1), self.parts)
        changes: Int64Array = native.changes(
            counts.data, counts.offsets, counts.counts, threads or 0
        )
        return changes


def learn_picky(
    counts: ChunkCounts,
    required: int,
    threshold: float | str | Fraction = "0.9",
    *,
    progress: Progress = SILENT,
) -> PickyEvents:
    """Train Picky BPE.

    Args:
        counts: The corpus.
        required: Number of learned tokens in the vocabulary.
        threshold: Remove a part if a merge used this share of its occurrences; above 0, at most 1.
        progress: Progress reporter; silent by default.

    >>> counts = ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1})
    >>> learned = learn_picky(counts, 3, 0.6)
    >>> learned.events.tolist()[2:4], learned.parts.tolist()  # "the", then "th" is split
    ([[0, 257, 101, 258], [1, 0, 2, 257]], [116, 104])
    """
    share = Fraction(str(threshold))
    if not 0 < share <= 1:
        raise SettingsError(
            f"threshold {threshold} of Picky BPE is out of range",
            hint="give a share above 0 and at most 1",
        )
    native = _core.PickyLearner(
        counts.data, counts.offsets, counts.counts, share.numerator, share.denominator
    )
    with progress.task(f"Picky {float(share):g}", total=required, unit="tokens") as task:
        reported = 0
        while native.advance(_STEPS, required) == _STEPS:
            task.advance(native.present_count - reported)
            reported = native.present_count
    events, parts, changes = native.learned()
    return PickyEvents(events.reshape(-1, 4), parts, changes, counts.pretokenizer)


class PickyBPE:
    """A Picky BPE tokenizer of one size: a prefix of the events of a training.

    Args:
        learned: The training.
        required: Number of learned tokens in the vocabulary.

    >>> counts = ChunkCounts.from_mapping({b"the": 2, b"cat": 2, b"hat": 1, b"that": 1})
    >>> tok = PickyBPE(learn_picky(counts, 3, 0.6), 3)
    >>> tok.vocab_size, tok.encode("that"), tok.decode(tok.encode("that"))
    (259, [116, 104, 256], 'that')
    """

    def __init__(self, learned: PickyEvents, required: int) -> None:
        self.pretokenizer = learned.pretokenizer
        self._events = learned.events[: learned.prefix(required)]
        self._native = _core.PickyEncoder(self._events.reshape(-1), learned.parts)
        strings = [bytes([byte]) for byte in range(BYTE_COUNT)]
        present = set(range(BYTE_COUNT))
        for kind, first, second, token in self._events.tolist():
            if kind == _SPLIT:
                present.remove(token)
                continue
            if token == len(strings):
                strings.append(strings[first] + strings[second])
            present.add(token)
        shown = sorted(present)
        self.strings = [strings[token] for token in shown]
        self._ids = np.full(len(strings), len(shown), np.uint32)
        self._ids[shown] = np.arange(len(shown))

    @property
    def vocab_size(self) -> int:
        """Number of bytes and present learned tokens."""
        return len(self.strings)

    def encode(self, text: str) -> list[int]:
        """Encode a text as token ids."""
        data = np.frombuffer(text.encode(), np.uint8)
        tokens = self._native.encode_chunks(data, self.pretokenizer.chunk_ends(data))
        ids: list[int] = self._ids[tokens].tolist()
        return ids

    def decode(self, ids: list[int]) -> str:
        """Return the text of token ids."""
        try:
            return b"".join(self.strings[token_id] for token_id in ids).decode(errors="replace")
        except IndexError:
            raise PrunedBPEError(f"token ids must be below {self.vocab_size}") from None
