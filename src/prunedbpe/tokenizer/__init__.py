"""The tokenizer: text -> token ids and back."""

from prunedbpe.tokenizer.special_tokens import SpecialSet
from prunedbpe.tokenizer.tiktoken_names import TiktokenEncoding
from prunedbpe.tokenizer.tokenizer import TokenIds, Tokenizer

__all__ = ["SpecialSet", "TiktokenEncoding", "TokenIds", "Tokenizer"]
