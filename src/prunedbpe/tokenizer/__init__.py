"""The tokenizer: text -> token ids and back."""

from prunedbpe.tokenizer.id_arguments import TokenIds
from prunedbpe.tokenizer.special_tokens import SpecialSet
from prunedbpe.tokenizer.tiktoken_names import TiktokenEncoding
from prunedbpe.tokenizer.tokenizer import Tokenizer

__all__ = ["SpecialSet", "TiktokenEncoding", "TokenIds", "Tokenizer"]
