"""What a user may choose about reading, and what readers do alike."""

from __future__ import annotations

import re
from collections.abc import Callable

from prunedbpe.corpus.report import CorpusReport
from prunedbpe.errors import CorpusError
from prunedbpe.records import record

Tell = Callable[[CorpusReport], None]
"""Takes what a reader has to report beside its documents, to be added to the rest."""


@record(frozen=True)
class ReadOptions:
    """What a user may choose about reading; see :class:`prunedbpe.corpus.Corpus`."""

    text_field: str = "text"
    normalize: bool = False
    strict: bool = False
    batch_bytes: int = 16 << 20


def encode_text(text: str, place: Callable[[], str], options: ReadOptions, tell: Tell) -> bytes:
    """UTF-8 of a string; what it cannot hold is replaced and reported, or with strict an error.

    Args:
        text: The string.
        place: Names it in an error.
        options: Whether to be strict.
        tell: Told of a string that was changed.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        if options.strict:
            raise CorpusError(
                f"{place()}: lone surrogate U+{ord(text[error.start]):04X} at character "
                f"{error.start}, which UTF-8 cannot hold",
                hint="repair the text, or leave out strict to replace surrogates by U+FFFD",
            ) from error
        tell(CorpusReport(replaced_documents=1))
        return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()
