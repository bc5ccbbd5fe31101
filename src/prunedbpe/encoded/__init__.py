"""Encoded corpora: token ids on disk, one writer and one reader for every format."""
