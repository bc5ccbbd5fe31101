"""Minimum-token segmentation as a Unigram model of Hugging Face, in both directions.

Out: the ``model`` of a ``tokenizer.json``. In: the pieces of such a model.

A Unigram model chooses the pieces whose scores have the greatest sum. If every piece has the score
-1.0, that is the segmentation with the fewest pieces. Its Viterbi search runs from left to right
and replaces a candidate only if the new one is strictly better, so among segmentations of equal
length the last piece is as long as possible, then the one before it: the tie rule of ``shortest``.
Sums of -1.0 are exact in 64-bit floating point. All 256 bytes are pieces, so no text is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from prunedbpe._support.json_values import JsonValue, shown
from prunedbpe.errors import NotExactError
from prunedbpe.exchange.byte_alphabet import from_byte_alphabet, to_byte_alphabet
from prunedbpe.types import BYTE_COUNT, Settings

SCORE = -1.0
"""The score of every piece."""


def unigram_model(strings: Sequence[bytes]) -> Settings:
    """Return the model whose pieces are these strings; the place of a string is its id.

    >>> unigram_model([b" ", b"a", b" a"])["vocab"]
    [['Ġ', -1.0], ['a', -1.0], ['Ġa', -1.0]]
    """
    return {
        "type": "Unigram",
        "unk_id": None,
        "vocab": [[to_byte_alphabet(string), SCORE] for string in strings],
        "byte_fallback": False,
    }


def pieces_of_unigram(model: Settings) -> dict[bytes, int]:
    """Return the ids of the pieces of a model that cuts text into the fewest of them.

    Raises:
        NotExactError: The model does not do that; the message names the reason.
        FormatError: The model is damaged.

    >>> pieces_of_unigram(unigram_model([bytes([b]) for b in range(256)] + [b"ab"]))[b"ab"]
    256
    """
    fields = JsonValue(model, "model")
    if fields["unk_id"]:
        raise NotExactError(
            f"the Unigram model has an unknown token (unk_id={shown(model['unk_id'])}): "
            "not supported"
        )
    if fields["byte_fallback"].flag(default=False):
        raise NotExactError("the Unigram model has byte_fallback=true: not supported")
    pieces: dict[bytes, int] = {}
    for token_id, entry in enumerate(fields["vocab"].items()):
        match entry.value:
            case [str() as name, score]:
                string = from_byte_alphabet(name)
            case _:
                raise entry.error("a token and a score")
        if score != SCORE:
            raise NotExactError(
                f"piece {shown(name)} (id {token_id}) of the Unigram model has the score "
                f"{shown(score)}: only models in which every piece has the score {SCORE} are "
                "supported"
            )
        if not string:
            raise NotExactError(
                f"piece {shown(name)} (id {token_id}) is not written in the byte alphabet: "
                "not a byte-level vocabulary"
            )
        if string in pieces:
            raise NotExactError(f"two pieces of the Unigram model spell {shown(string)}")
        pieces[string] = token_id
    missing = [byte for byte in range(BYTE_COUNT) if bytes([byte]) not in pieces]
    if missing:
        raise NotExactError(
            f"{len(missing)} bytes are not pieces of the Unigram model (the first: "
            f"0x{missing[0]:02x}): the original fails on text that holds them"
        )
    return pieces
