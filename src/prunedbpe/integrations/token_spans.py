"""Find the characters and the word of every token, as fast tokenizers of transformers do.

Spans refer to the text that the caller gave. Normalization changes lengths, so
:func:`spans_in_original` cuts the original into the shortest pieces that normalize independently; a
span then covers whole pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from prunedbpe.integrations.segments import Segment
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.imported import ImportedTokenizer
from prunedbpe.types import Int64Array

Span = tuple[int, int]


class LocatedTokens(NamedTuple):
    """Where the tokens of a text are, a value per token.

    Attributes:
        spans: The characters that it covers.
        words: The word that it belongs to.
        spaces: How many spaces it begins and ends with.
    """

    spans: list[Span]
    words: list[int]
    spaces: list[tuple[int, int]]


def locate_tokens(
    tokenizer: Tokenizer, words: list[str], cuts: list[list[Segment]], by_given_words: bool
) -> LocatedTokens:
    """Return where the tokens are, in the order of encoding.

    Args:
        tokenizer: The tokenizer that encoded the text.
        words: The text, or the words that the caller gave.
        cuts: The segments of each of ``words``.
        by_given_words: Number tokens by ``words``; otherwise by chunk and added token.
    """
    located = LocatedTokens([], [], [])
    chunk = 0  # chunks and added tokens so far
    for word_number, (word, segments) in enumerate(zip(words, cuts, strict=True)):
        for segment in segments:
            if segment.token_id is not None:
                located.spans.append((segment.begin, segment.end))
                located.words.append(word_number if by_given_words else chunk)
                located.spaces.append(segment.spaces)
                chunk += 1
                continue
            found, chunk_count = _locate_ordinary(tokenizer, word[segment.begin : segment.end])
            shift = segment.begin
            located.spans.extend((begin + shift, end + shift) for begin, end in found.spans)
            located.words.extend(
                word_number if by_given_words else chunk + place for place in found.words
            )
            located.spaces.extend(found.spaces)
            chunk += chunk_count
    return located


def spaces_of(spelled: bytes) -> tuple[int, int]:
    """Return how many spaces a token begins and ends with.

    >>> spaces_of(b"  a ")
    (2, 1)
    """
    return len(spelled) - len(spelled.lstrip(b" ")), len(spelled) - len(spelled.rstrip(b" "))


def _locate_ordinary(tokenizer: Tokenizer, text: str) -> tuple[LocatedTokens, int]:
    """Return where the tokens are, their words being chunks, and the number of chunks."""
    normalize = normalizer_of(tokenizer)
    normalized = normalize(text)
    if isinstance(tokenizer, ImportedTokenizer):
        chunk_ends = tokenizer.cut.chunk_ends(normalized)
    else:
        chunk_ends = tokenizer.pretokenizer.chunk_ends(normalized.encode())
    ids, covered = tokenizer.encode_with_offsets(normalized)
    spelled = [tokenizer.token_bytes(token_id) for token_id in ids]
    chunks: list[int] = np.searchsorted(chunk_ends, np.cumsum(list(map(len, spelled)))).tolist()
    spans = spans_in_original(text, normalize, covered)
    return LocatedTokens(spans, chunks, list(map(spaces_of, spelled))), len(chunk_ends)


def character_spans(
    tokenizer: Tokenizer, texts: Sequence[str], byte_lengths: Int64Array, offsets: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """Return the first character of every token of a batch, and the one after its last.

    Args:
        tokenizer: The tokenizer that encoded the texts.
        texts: The texts, without added tokens.
        byte_lengths: Bytes of each token, for all texts.
        offsets: Which tokens belong to each text.
    """
    normalize = normalizer_of(tokenizer)
    spelled = [normalize(text) for text in texts]
    joined = "".join(spelled)
    ends = np.cumsum(byte_lengths)
    begins = ends - byte_lengths
    if not joined.isascii():
        # The character that each byte belongs to: one less than the character starts so far.
        character = np.cumsum((np.frombuffer(joined.encode(), np.uint8) & 0xC0) != 0x80) - 1
        begins, ends = character[begins], character[ends - 1] + 1
    text_begins = np.cumsum([0, *map(len, spelled)])[:-1]
    shift = np.repeat(text_begins, np.diff(offsets))
    begins, ends = begins - shift, ends - shift
    for i, (text, normalized) in enumerate(zip(texts, spelled, strict=True)):
        if text != normalized:
            tokens = slice(offsets[i], offsets[i + 1])
            spans = list(zip(begins[tokens].tolist(), ends[tokens].tolist(), strict=True))
            original = np.array(spans_in_original(text, normalize, spans), np.int64)
            begins[tokens], ends[tokens] = original.reshape(-1, 2).T
    return begins, ends


def normalizer_of(tokenizer: Tokenizer) -> Callable[[str], str]:
    """Return what normalizes the text that a tokenizer cuts."""
    if isinstance(tokenizer, ImportedTokenizer):
        return tokenizer.cut.normalized
    return tokenizer.pretokenizer.normalize


def spans_in_original(text: str, normalize: Callable[[str], str], spans: list[Span]) -> list[Span]:
    r"""Return the spans of ``text`` that cover given spans of ``normalize(text)``.

    >>> from unicodedata import normalize
    >>> spans_in_original("e\u0301a", lambda text: normalize("NFC", text), [(0, 1), (1, 2)])
    [(0, 2), (2, 3)]
    """
    if normalize(text) == text:
        return spans
    pieces: list[Span] = []  # the piece of every character of the normalized text
    begin = 0
    for end in range(1, len(text) + 1):
        piece, rest = normalize(text[begin:end]), text[end : end + 1]
        # Otherwise the next character reorders or composes with this piece.
        if normalize(text[begin:end] + rest) == piece + normalize(rest):
            pieces += [(begin, end)] * len(piece)
            begin = end
    return [(pieces[first][0], pieces[end - 1][1]) for first, end in spans]
