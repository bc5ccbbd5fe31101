"""The byte alphabet: one printable character for each of the 256 bytes.

GPT-2 introduced it, and all byte-level files use it, so that JSON and a merges file can hold any
bytes. A byte that is a visible Latin-1 character stands for itself; the others, in order, become
U+0100 and up.
"""

from __future__ import annotations

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in set(_PRINTABLE)]

CHARACTER_OF_BYTE = {
    **{byte: chr(byte) for byte in _PRINTABLE},
    **{byte: chr(0x100 + place) for place, byte in enumerate(_OTHERS)},
}
BYTE_OF_CHARACTER = {character: byte for byte, character in CHARACTER_OF_BYTE.items()}

# Characters that stand for no byte become, or stay, characters outside of Latin-1.
_LATIN_1 = dict.fromkeys(range(256), 0x100) | {
    ord(character): byte for character, byte in BYTE_OF_CHARACTER.items()
}


def to_byte_alphabet(string: bytes) -> str:
    """Write bytes as printable characters.

    >>> to_byte_alphabet(b" the"), to_byte_alphabet("é".encode())
    ('Ġthe', 'Ã©')
    """
    return string.decode("latin-1").translate(CHARACTER_OF_BYTE)


def from_byte_alphabet(text: str) -> bytes | None:
    """Return the bytes that characters stand for; ``None`` if a character stands for no byte.

    >>> from_byte_alphabet("Ġthe"), from_byte_alphabet("中")
    (b' the', None)
    """
    try:
        return text.translate(_LATIN_1).encode("latin-1")
    except UnicodeEncodeError:
        return None
