"""Byte-level BPE tokenizers whose every vocabulary slot goes to a token that text really uses."""

__version__ = "0.1.0"
