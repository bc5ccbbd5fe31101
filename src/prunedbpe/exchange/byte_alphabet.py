"""The printable stand-ins of the 256 bytes in GPT-2's files and in all byte-level ones since.

Bytes that are visible characters of Latin-1 stand for themselves; the others, in order, are
U+0100 and on. A token's bytes become a string that JSON and a merges file can hold.
"""

from __future__ import annotations

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in set(_PRINTABLE)]

CHARACTER_OF_BYTE = {
    **{byte: chr(byte) for byte in _PRINTABLE},
    **{byte: chr(0x100 + place) for place, byte in enumerate(_OTHERS)},
}
BYTE_OF_CHARACTER = {character: byte for byte, character in CHARACTER_OF_BYTE.items()}


def to_byte_alphabet(string: bytes) -> str:
    """Bytes as printable characters.

    >>> to_byte_alphabet(b" the"), to_byte_alphabet("é".encode())
    ('Ġthe', 'Ã©')
    """
    return string.decode("latin-1").translate(CHARACTER_OF_BYTE)


def from_byte_alphabet(text: str) -> bytes | None:
    """The bytes that characters stand for; ``None`` if one of them stands for none.

    >>> from_byte_alphabet("Ġthe"), from_byte_alphabet("中")
    (b' the', None)
    """
    try:
        return bytes(BYTE_OF_CHARACTER[character] for character in text)
    except KeyError:
        return None
