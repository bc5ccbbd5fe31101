"""Encode rows of one text each as flat arrays, without a Python step per token.

This is what most calls of a tokenizer for transformers ask for. Pairs, words and overflowing tokens
go another way, which handles one row at a time.

A value per token (an id, a span) is one flat array for all rows; row ``i`` is
``[offsets[i], offsets[i + 1])``. Truncation and special tokens change all arrays alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from prunedbpe.integrations.segments import Segment
from prunedbpe.integrations.token_spans import Span, character_spans
from prunedbpe.integrations.token_tables import TokenTables
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import AnyArray, Int64Array

Rows = list[list[int]]


@dataclass
class PlainBatch:
    """The tokens of every text, with special tokens, after truncation.

    Attributes:
        texts: The texts.
        cuts: The segments of those texts that hold added tokens, by row.
        ids: The token ids of all rows.
        offsets: Where the ids of each row begin, and the end.
        skipped: How many of a text's first tokens truncation removed, per row.
        spans: First character of every token and the one after its last, if asked for.
        spaces: How many spaces every token begins and ends with, if there are spans.
        special: 1 for a special token that the call added, 0 for a token of the text.
    """

    texts: list[str]
    cuts: dict[int, list[Segment]]
    ids: AnyArray = field(init=False)
    offsets: Int64Array = field(init=False)
    skipped: Int64Array = field(init=False)
    spans: tuple[Int64Array, Int64Array] | None = None
    spaces: tuple[Int64Array, Int64Array] = field(init=False)
    special: Int64Array = field(init=False)

    @classmethod
    def encode(
        cls,
        tokenizer: Tokenizer,
        texts: list[str],
        cuts: dict[int, list[Segment]],
        tables: TokenTables,
        with_spans: bool,
    ) -> PlainBatch:
        """Encode texts; ordinary text in one native call, added tokens put between the results."""
        batch = cls(texts, cuts)
        pieces: list[str] = []  # the ordinary text, and where each piece begins in its own text
        begins: list[int] = []
        added: list[Segment] = []  # the added tokens, and how many pieces precede each of them
        before: list[int] = []
        ends = [(0, 0)]  # pieces and added tokens up to the end of each row
        for row, text in enumerate(texts):
            segments = cuts.get(row)
            if segments is None:
                pieces.append(text)
                begins.append(0)
            for segment in segments or ():
                if segment.token_id is None:
                    pieces.append(text[segment.begin : segment.end])
                    begins.append(segment.begin)
                else:
                    added.append(segment)
                    before.append(len(pieces))
            ends.append((len(pieces), len(added)))
        ids, offsets = tokenizer.encode_batch_to_numpy(pieces)
        places = offsets[before]
        added_ids = np.array([segment.token_id for segment in added], np.uint32)
        batch.ids = np.insert(ids, places, added_ids)
        piece_ends, added_ends = np.array(ends, np.int64).T
        batch.offsets = offsets[piece_ends] + added_ends
        batch.skipped = np.zeros(len(texts), np.int64)
        if with_spans:
            first, last = character_spans(tokenizer, pieces, tables.byte_lengths[ids], offsets)
            shift = np.repeat(np.array(begins, np.int64), np.diff(offsets))
            first = np.insert(first + shift, places, [s.begin for s in added])
            last = np.insert(last + shift, places, [s.end for s in added])
            batch.spans = first, last
            leading, trailing = (counts[ids] for counts in tables.spaces)
            batch.spaces = (
                np.insert(leading, places, [s.spaces[0] for s in added]),
                np.insert(trailing, places, [s.spaces[1] for s in added]),
            )
        batch.special = np.zeros(len(batch.ids), np.int64)
        return batch

    @property
    def lengths(self) -> Int64Array:
        """Tokens of each row."""
        return np.diff(self.offsets)

    def truncate(self, limit: int, side: str) -> None:
        """Keep at most ``limit`` tokens of each text; ``side`` is where they are removed."""
        lengths = self.lengths
        kept = np.minimum(lengths, max(0, limit))
        if side == "left":
            self.skipped = lengths - kept
        begins = self.offsets[:-1] + self.skipped
        self.offsets = np.concatenate([[0], np.cumsum(kept)])
        places = np.arange(self.offsets[-1]) + np.repeat(begins - self.offsets[:-1], kept)
        self.ids, self.special = self.ids[places], self.special[places]
        if self.spans is not None:
            self.spans = self.spans[0][places], self.spans[1][places]
            self.spaces = self.spaces[0][places], self.spaces[1][places]

    def add_special(self, prefix: list[int], suffix: list[int]) -> None:
        """Put special tokens before and after each row."""
        if not prefix and not suffix:
            return
        rows, added = len(self.texts), len(prefix) + len(suffix)
        counts = [len(prefix), len(suffix)]
        # Row by row, because an empty row begins where it ends.
        edges = np.column_stack([self.offsets[:-1], self.offsets[1:]])
        places = np.repeat(edges.ravel(), np.tile(counts, rows))
        self.ids = np.insert(self.ids, places, np.tile(prefix + suffix, rows))
        self.special = np.insert(self.special, places, 1)
        if self.spans is not None:
            self.spans = np.insert(self.spans[0], places, 0), np.insert(self.spans[1], places, 0)
        self.offsets = self.offsets + np.arange(rows + 1) * added

    def trim_spans(self, keeps_first: bool) -> None:
        """Leave the spaces at the ends of tokens out of the spans, before special tokens are added.

        Args:
            keeps_first: Keep the space that a row begins with, unless there are several.
        """
        assert self.spans is not None
        begins, ends = self.spans
        first, last = self.spaces
        if keeps_first:
            is_first = begins == 0
            is_first[self.offsets[:-1][self.lengths > 0]] = True
            first = np.where(is_first & (first == 1), 0, first)
        begins = np.minimum(begins + first, ends)
        trimmed = np.maximum(ends - last, begins)
        self.spans = begins, np.where(ends >= last, trimmed, ends)

    def types(self, around: list[int], of_text: int) -> Int64Array:
        """Return the token type of every token.

        Args:
            around: The types of the special tokens around each row.
            of_text: The type of all other tokens.
        """
        types = np.full(len(self.ids), of_text, np.int64)
        types[self.special == 1] = np.tile(np.array(around, np.int64), len(self.texts))
        return types

    # Results

    def lists(self, values: AnyArray) -> Rows:
        """Return a list of each row's values."""
        return self._cut(values.tolist())

    def span_lists(self) -> list[list[Span]]:
        """Return a list of each row's spans."""
        assert self.spans is not None
        return self._cut(list(zip(self.spans[0].tolist(), self.spans[1].tolist(), strict=True)))

    def _cut(self, flat: list[Any]) -> list[list[Any]]:
        offsets = self.offsets.tolist()
        return [flat[begin:end] for begin, end in pairwise(offsets)]

    def masks(self) -> Rows:
        """Return a list of ones for each row."""
        return [[1] * length for length in self.lengths.tolist()]

    def table(self, values: AnyArray | int, width: int, side: str, pad: int) -> Int64Array:
        """Return one row of ``width`` values for each text, padded on one side."""
        columns, lengths = np.arange(width), self.lengths[:, None]
        filled = columns >= width - lengths if side == "left" else columns < lengths
        if isinstance(values, int):
            return np.where(filled, values, pad)
        table = np.full(filled.shape, pad, np.int64)
        table[filled] = values
        return table


def pad_lists(rows: list[list[Any]], width: int, side: str, pad: Any) -> list[list[Any]]:
    """Pad each list on one side; longer ones stay as they are."""
    if side == "left":
        return [[pad] * (width - len(row)) + row for row in rows]
    return [row + [pad] * (width - len(row)) for row in rows]
