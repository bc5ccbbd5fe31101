"""Recognise a SentencePiece ``.model`` file, and say why it cannot be imported exactly.

In: the bytes of the file, a protobuf message. Out: what kind of model it holds. Only the fields
that matter for that are read, with bounds on every length.

A SentencePiece BPE model merges characters, not bytes. A byte token such as ``<0x61>`` stands only
for the bytes of characters that are no piece, and spells the same as the piece ``a``. White space
becomes the character U+2581, which text may hold as well, so decoding cannot tell the two apart.
Byte-level BPE has neither characters nor two tokens with one spelling.
"""

from __future__ import annotations

from dataclasses import dataclass

from prunedbpe.errors import FormatError, NotExactError

_KINDS = {1: "Unigram", 2: "BPE", 3: "word", 4: "character"}
_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3  # fields of ModelProto
_MODEL_TYPE, _BYTE_FALLBACK = 3, 35  # fields of TrainerSpec
_NORMALIZER_NAME = 1  # of NormalizerSpec

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class PieceModel:
    """What a file holds.

    Attributes:
        kind: ``Unigram``, ``BPE``, ``word`` or ``character``.
        pieces: How many pieces.
        byte_fallback: Whether characters that are no piece become byte tokens.
        normalizer: The name of the normalization, such as ``identity`` or ``nmt_nfkc``.
    """

    kind: str
    pieces: int
    byte_fallback: bool
    normalizer: str


def is_sentencepiece(data: bytes) -> bool:
    r"""Whether a file may be a model: it begins with a piece, which no text file does.

    >>> is_sentencepiece(b"\n\x0e\n\x05<unk>\x15\x00\x00\x00\x00\x18\x02")
    True
    >>> is_sentencepiece(b"IQ== 0")
    False
    """
    return len(data) > 3 and data[0] == _PIECES << 3 | _LENGTH and data[2] == 1 << 3 | _LENGTH


def refuse_sentencepiece(data: bytes) -> NotExactError:
    """Return the error for a model that cannot be imported; it names the reason."""
    model = read_sentencepiece(data)
    fallback = "with" if model.byte_fallback else "without"
    found = (
        f"a SentencePiece model: {model.kind}, {model.pieces:,} pieces, {fallback} byte fallback, "
        f"normalizer {model.normalizer!r}"
    )
    if model.kind != "BPE":
        reason = f"{model.kind} models choose pieces by their scores"
    elif not model.byte_fallback:
        reason = "characters that are no piece become an unknown token"
    else:
        reason = (
            "it merges characters, its byte tokens spell the same as pieces, and it writes spaces "
            "as U+2581, so it is not byte-level BPE"
        )
    return NotExactError(f"{found}; {reason}", hint="encode with sentencepiece itself")


def read_sentencepiece(data: bytes) -> PieceModel:
    """Read what kind of model a file holds.

    Raises:
        FormatError: The file is damaged.
    """
    kind, pieces, byte_fallback, normalizer = 1, 0, False, ""
    for field, value in _fields(data):
        if field == _PIECES:
            pieces += 1
        elif field == _TRAINER and isinstance(value, bytes):
            for inner, setting in _fields(value):
                if inner == _MODEL_TYPE and isinstance(setting, int):
                    kind = setting
                elif inner == _BYTE_FALLBACK:
                    byte_fallback = bool(setting)
        elif field == _NORMALIZER and isinstance(value, bytes):
            for inner, setting in _fields(value):
                if inner == _NORMALIZER_NAME and isinstance(setting, bytes):
                    normalizer = setting.decode("utf-8", "replace")[:80]
    if kind not in _KINDS:
        raise FormatError(f"a SentencePiece model of the unknown type {kind}")
    return PieceModel(_KINDS[kind], pieces, byte_fallback, normalizer)


def _fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """Return the fields of a protobuf message: their numbers and values."""
    found: list[tuple[int, int | bytes]] = []
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        field, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            number, place = _varint(data, place)
            found.append((field, number))
            continue
        if wire == _LENGTH:
            size, place = _varint(data, place)
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
        else:
            raise FormatError(f"not a SentencePiece model: unknown field at byte {place}")
        if size > len(data) - place:
            raise FormatError("the SentencePiece model is cut off")
        found.append((field, data[place : place + size]))
        place += size
    return found


def _varint(data: bytes, place: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        if place >= len(data):
            raise FormatError("the SentencePiece model is cut off")
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
    raise FormatError(f"not a SentencePiece model: a number has over ten bytes at byte {place}")
