"""The vocabulary: merges and visibility -> one finished, immutable artefact, and its files."""

from prunedbpe.vocabulary.vocabulary import Vocabulary, check_special_tokens

__all__ = ["Vocabulary", "check_special_tokens"]
