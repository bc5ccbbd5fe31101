"""The tokenizer: text -> token ids and back."""

from prunedbpe.tokenizer.tiktoken_names import TiktokenEncoding
from prunedbpe.tokenizer.tokenizer import AllowedSpecial, Segmentation, TokenIds, Tokenizer

__all__ = ["AllowedSpecial", "Segmentation", "TiktokenEncoding", "TokenIds", "Tokenizer"]
