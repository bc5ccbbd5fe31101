"""The two files of the paper's released implementation, which has no settings file."""

from __future__ import annotations

from pathlib import Path

from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.vocabulary.vocabulary_files import read_paper_files


def import_paper_files(
    folder: str | Path, *, pretokenizer: str | Pretokenizer = "reference"
) -> Tokenizer:
    """Read ``vocab.txt`` and ``inter_vocab.txt``; ids stay what they are.

    Args:
        folder: Where both files are.
        pretokenizer: The files do not say how text is cut; by default as that implementation does.
    """
    vocabulary = read_paper_files(Path(folder))
    return Tokenizer(vocabulary, pretokenizer, {"imported": {"format": "vocab.txt"}})
