"""Find the characters and the word of every token, as fast tokenizers of transformers do.

Spans refer to the text that the caller gave. Normalization changes lengths, so
:func:`spans_in_original` cuts the original into the shortest pieces that normalize independently; a
span then covers whole pieces.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from prunedbpe.integrations.segments import Segment
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.imported import ImportedTokenizer

Span = tuple[int, int]


def locate_tokens(
    tokenizer: Tokenizer, words: list[str], cuts: list[list[Segment]], by_given_words: bool
) -> tuple[list[Span], list[int]]:
    """Return the characters and the word of every token, in the order of encoding.

    Args:
        tokenizer: The tokenizer that encoded the text.
        words: The text, or the words that the caller gave.
        cuts: The segments of each of ``words``.
        by_given_words: Number tokens by ``words``; otherwise by chunk and added token.
    """
    spans: list[Span] = []
    numbers: list[int] = []
    chunk = 0  # chunks and added tokens so far
    for word_number, (word, segments) in enumerate(zip(words, cuts, strict=True)):
        for segment in segments:
            if segment.token_id is not None:
                spans.append((segment.begin, segment.end))
                numbers.append(word_number if by_given_words else chunk)
                chunk += 1
                continue
            covered, chunks, chunk_count = _locate_ordinary(
                tokenizer, word[segment.begin : segment.end]
            )
            spans += [(begin + segment.begin, end + segment.begin) for begin, end in covered]
            numbers += [word_number if by_given_words else chunk + place for place in chunks]
            chunk += chunk_count
    return spans, numbers


def _locate_ordinary(tokenizer: Tokenizer, text: str) -> tuple[list[Span], list[int], int]:
    """Return the span and the chunk of every token, and the number of chunks."""
    if isinstance(tokenizer, ImportedTokenizer):
        normalize = tokenizer.cut.normalized
        normalized = normalize(text)
        chunk_ends = tokenizer.cut.chunk_ends(normalized)
    else:
        normalize = tokenizer.pretokenizer.normalize
        normalized = normalize(text)
        chunk_ends = tokenizer.pretokenizer.chunk_ends(normalized.encode())
    ids, covered = tokenizer.encode_with_offsets(normalized)
    token_ends = np.cumsum([len(tokenizer.token_bytes(token_id)) for token_id in ids])
    chunks: list[int] = np.searchsorted(chunk_ends, token_ends).tolist()
    return spans_in_original(text, normalize, covered), chunks, len(chunk_ends)


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
