"""The vocabulary under the names that Hugging Face tokenizers use: tokens as text, and their ids.

A token is any string of bytes and need not be valid UTF-8: it may begin or end inside a character.
Text stands for bytes as in :pep:`383`: a byte that is not UTF-8 becomes one lone surrogate, and
``token.encode("utf-8", "surrogateescape")`` returns the bytes of any token. So every token has one
text and no two tokens share one. The byte alphabet of GPT-2 (``Ġthe``) appears in exports only.
"""

from __future__ import annotations

from prunedbpe._support.arguments import to_whole_number, wrong_type
from prunedbpe.tokenizer.tiktoken_names import TiktokenMethods

_BYTES_AS_TEXT = "surrogateescape"


class HuggingFaceMethods(TiktokenMethods):
    """What a ``tokenizers.Tokenizer`` offers to look tokens up; visible tokens only."""

    def __len__(self) -> int:
        """As ``vocab_size``: all a model sees."""
        return self.vocab_size

    def get_vocab(self) -> dict[str, int]:
        r"""Token id of every visible token, in order of id.

        A token is text; each byte of it that is not valid UTF-8 is a lone surrogate, see
        :meth:`id_to_token`. If a learned token spells a special token, the text stands for the
        special one. Ids without a token, which an imported vocabulary may have, are left out.

        >>> import prunedbpe
        >>> vocab = prunedbpe.train(["ab ab"], vocab_size=261, threshold=0).get_vocab()
        >>> vocab["ab"], vocab["<_EOS_>"], vocab["\udcc3"]  # the byte 0xC3 begins "é"
        (256, 257, 195)
        """
        specials = self.special_tokens
        return {
            token: token_id
            for token_id, token in enumerate(map(self._as_text, self.vocab_bytes()))
            if token and specials.get(token, token_id) == token_id
        }

    def token_to_id(self, token: str | bytes) -> int | None:
        r"""Id of the visible token that spells exactly this; ``None`` if there is none.

        Args:
            token: Text as :meth:`id_to_token` returns it, or bytes, which never name a special
                token.

        >>> import prunedbpe
        >>> tok = prunedbpe.train(["ab ab"], vocab_size=261, threshold=0)
        >>> tok.token_to_id("ab"), tok.token_to_id(b"\xc3"), tok.token_to_id("abc")
        (256, 195, None)
        """
        if isinstance(token, str):
            special = self.special_tokens.get(token)
            if special is not None:
                return special
            try:
                token = token.encode("utf-8", _BYTES_AS_TEXT)
            except UnicodeEncodeError:  # a surrogate that stands for no byte
                return None
        elif not isinstance(token, bytes):
            raise wrong_type("a token is a text or bytes", token)
        return self._ids_by_bytes.get(token)

    def id_to_token(self, token_id: int) -> str | None:
        r"""Text of a visible token; ``None`` if no visible token has the id.

        Each byte that is not valid UTF-8 becomes a lone surrogate, so that the text names one token
        only: ``text.encode("utf-8", "surrogateescape")`` returns its bytes, as ``token_bytes``
        does. Such a text cannot be printed; its ``repr`` can.

        >>> import prunedbpe
        >>> tok = prunedbpe.train(["ab ab"], vocab_size=261, threshold=0)
        >>> tok.id_to_token(256), tok.id_to_token(195), tok.id_to_token(1000)
        ('ab', '\udcc3', None)
        """
        token_id = to_whole_number("token_id", token_id)
        if not 0 <= token_id < self.vocab_size:
            return None
        return self._as_text(self.vocab_bytes()[token_id]) or None

    @staticmethod
    def _as_text(spelled: bytes) -> str:
        return spelled.decode("utf-8", _BYTES_AS_TEXT)
