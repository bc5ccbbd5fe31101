"""Decoding token ids as they come: text is handed out as soon as its characters are whole."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from prunedbpe.errors import PrunedBPEError


class StreamingDecoder:
    """Takes token ids one by one and never splits a character.

    Bytes that cannot become UTF-8 any more are replaced by U+FFFD, as in ``bytes.decode``.

    Args:
        vocab_bytes: What every token id spells.

    >>> decoder = StreamingDecoder([bytes([byte]) for byte in range(256)])
    >>> [decoder.push(byte) for byte in "é!".encode()]
    ['', 'é', '!']
    >>> decoder.finish()
    ''
    """

    def __init__(self, vocab_bytes: Sequence[bytes]) -> None:
        self._vocab_bytes = vocab_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token_id: int) -> str:
        """Take one id; returns the text that is complete now, maybe none."""
        if not 0 <= token_id < len(self._vocab_bytes):
            raise PrunedBPEError(
                f"token id {token_id} is not in the vocabulary of {len(self._vocab_bytes)}"
            )
        return self._decoder.decode(self._vocab_bytes[token_id])

    def finish(self) -> str:
        """End the stream; an unfinished character becomes U+FFFD."""
        text = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return text
