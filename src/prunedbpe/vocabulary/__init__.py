"""The vocabulary: merges and visibility become one finished, immutable artefact with its files."""

from prunedbpe.vocabulary.vocabulary import Vocabulary, check_special_tokens

__all__ = ["Vocabulary", "check_special_tokens"]
