"""From documents to the rows that a model reads.

In: a tokenizer and documents. Out: :class:`Stream`, token ids with a separator before every
document, and :class:`Row`, places in it. Bits per byte compares tokenizers only if tokens spell the
text, so that is checked for every document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prunedbpe import Tokenizer
from prunedbpe._support.digests import digest_arrays
from prunedbpe.errors import PrunedBPEError
from prunedbpe.types import BoolArray, Int64Array, UInt32Array
from studies.language_model.settings import Context
from studies.language_model.texts import Document


@dataclass(frozen=True, eq=False)
class Stream:
    """Documents as token ids, one after the other.

    Attributes:
        ids: Token ids; a separator before every document.
        sizes: Bytes of every token; 0 of a separator.
        starts: Where the separator of each document is, and the end of the stream.
        tokens: What each visible token spells, and at the end the separator, which spells nothing.
    """

    ids: Int64Array
    sizes: Int64Array
    starts: Int64Array
    tokens: Sequence[bytes]

    @property
    def vocab_size(self) -> int:
        """Rows of the embedding: all visible tokens and the separator."""
        return len(self.tokens)

    @property
    def separator(self) -> int:
        """Its id, the first beyond the tokenizer's."""
        return len(self.tokens) - 1

    @cached_property
    def places(self) -> Int64Array:
        """Bytes of text before each token, and before the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @property
    def is_text(self) -> BoolArray:
        """Which tokens count: all but separators."""
        return self.ids != self.separator


def make_stream(tokenizer: Tokenizer, documents: Sequence[Document]) -> Stream:
    """Encode documents.

    Raises:
        PrunedBPEError: The tokens of a document do not add up to its bytes.
    """
    ids, ends = tokenizer.encode_batch_to_numpy([document.text for document in documents])
    tokens = [*tokenizer.vocab_bytes(), b""]
    sizes = np.array([len(token) for token in tokens], np.int64)[ids]
    check_bytes(np.concatenate([[0], np.cumsum(sizes)])[ends], documents)
    return Stream(
        ids=np.insert(ids.astype(np.int64), ends[:-1], len(tokens) - 1),
        sizes=np.insert(sizes, ends[:-1], 0),
        starts=ends + np.arange(len(ends)),
        tokens=tokens,
    )


def check_bytes(ends: Int64Array, documents: Sequence[Document]) -> None:
    """Refuse a tokenizer whose tokens do not spell the text.

    Args:
        ends: Bytes of all tokens before each document, and at the end.
        documents: What was encoded.
    """
    expected = np.array([len(document.data) for document in documents])
    wrong = np.flatnonzero(np.diff(ends) != expected)
    if len(wrong):
        first = wrong[0]
        raise PrunedBPEError(
            f"document {first} has {expected[first]} bytes, its tokens {np.diff(ends)[first]}",
            hint="bits per byte needs a tokenizer that keeps the text: no normalization",
        )


def tokenizer_digest(tokenizer: Tokenizer, documents: Sequence[Document]) -> str:
    """Hash of what a tokenizer does to some documents, and of what its tokens spell."""
    stream = make_stream(tokenizer, documents)
    spelled = np.frombuffer(b"".join(stream.tokens), np.uint8)
    return digest_arrays(stream.ids, stream.sizes, spelled)


@dataclass(frozen=True)
class Row:
    """A part of a stream that a model reads at once: it predicts the tokens from begin to end.

    The token before ``begin`` is read too.

    Attributes:
        begin: First token that is predicted.
        scored: First token whose prediction counts.
        end: After the last one.
    """

    begin: int
    scored: int
    end: int


def training_rows(stream: Stream, begin: int, end: int, context: Context, length: int) -> list[Row]:
    """Cut a part of a stream into rows, none overlapping.

    Args:
        stream: What is trained on.
        begin: First token; the separator at the very beginning is never predicted.
        end: After the last token.
        context: What ``length`` counts; rows of bytes begin with the token that begins there.
        length: Of a row.
    """
    borders = cut_places(stream, max(begin, 1), end, context, length)
    pairs = zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True)
    return [Row(first, first, last) for first, last in pairs]


def measuring_rows(stream: Stream, context: Context, length: int) -> Iterator[Row]:
    """Cut every document into rows that overlap by half; every token is scored once."""
    for start, end in zip(stream.starts[:-1].tolist(), stream.starts[1:].tolist(), strict=True):
        borders = cut_places(stream, start + 1, end, context, length // 2).tolist()
        before = [borders[0], *borders]
        for begin, scored, last in zip(before, borders, borders[1:], strict=False):
            yield Row(begin, scored, last)


def cut_places(stream: Stream, begin: int, end: int, context: Context, length: int) -> Int64Array:
    """Places to cut at, from begin to end, both included."""
    if context == "tokens":
        inner = np.arange(begin, end, length)
    else:
        first, last = stream.places[begin], stream.places[end]
        wanted = np.arange(first, last, length)
        inner = np.searchsorted(stream.places[begin:end], wanted) + begin
    return np.unique(np.append(inner, [begin, end]))


def padded(stream: Stream, rows: Sequence[Row], nothing: int) -> tuple[Int64Array, Int64Array]:
    """Rows as two arrays, as wide as the longest: ids to read, and ids to predict.

    Args:
        stream: What the rows are of.
        rows: At least one.
        nothing: Stands in the second array where nothing counts: padding, separators, context.
    """
    width = max(row.end - row.begin for row in rows)
    read = np.full((len(rows), width), stream.separator)
    predicted = np.full((len(rows), width), nothing)
    for i, row in enumerate(rows):
        length = row.end - row.begin
        read[i, :length] = stream.ids[row.begin - 1 : row.end - 1]
        targets = stream.ids[row.scored : row.end]
        counted = np.where(targets == stream.separator, nothing, targets)
        predicted[i, row.scored - row.begin : length] = counted
    return read, predicted


def occurrences(stream: Stream, end: int) -> UInt32Array:
    """How often each token occurs before a place."""
    return np.bincount(stream.ids[:end], minlength=stream.vocab_size)
