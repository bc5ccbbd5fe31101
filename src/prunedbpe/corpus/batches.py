"""Document batches: the unit of streaming, and how documents are put into one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from prunedbpe._core import lay_out_documents, length_of_documents, split_lines
from prunedbpe.corpus.options import ReadOptions
from prunedbpe.corpus.report import CorpusReport, Tell
from prunedbpe.errors import CorpusError
from prunedbpe.types import AnyArray


@dataclass(frozen=True, eq=False)
class DocumentBatch:
    """Some documents of one source, as flat UTF-8 bytes.

    Attributes:
        data: The bytes, a view of whatever was read. There may be bytes between documents (line
            ends) that belong to none of them.
        spans: One row ``begin, end`` into ``data`` for each document, in order; none is empty.
        source: The file's path as given, ``-`` for standard input, ``<python>`` for an iterable.
    """

    data: AnyArray
    spans: AnyArray
    source: str

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def text_bytes(self) -> int:
        """The bytes of the documents alone."""
        return length_of_documents(self.spans)

    def documents(self) -> Iterator[bytes]:
        """The documents one by one, as copies."""
        for begin, end in self.spans.tolist():
            yield self.data[begin:end].tobytes()


def batch_of_lines(data: AnyArray, source: str, threads: int = 1) -> DocumentBatch:
    r"""Make every line of ``data`` a document, found by that many threads.

    >>> batch = batch_of_lines(memoryview(b"one\n\ntwo\r\n"), "a.txt")
    >>> list(batch.documents())
    [b'one', b'two']
    """
    return DocumentBatch(data, split_lines(data, threads), source)


def batch_of_whole(data: AnyArray, source: str) -> DocumentBatch:
    """Make all of ``data`` one document, or none if there is no text."""
    return DocumentBatch(data, lay_out_documents([len(data)]), source)


def batch_of_documents(documents: Sequence[bytes], source: str) -> DocumentBatch:
    """Lay documents end to end; the empty ones are left out.

    >>> batch_of_documents([b"ab", b"", b"c"], "<python>").spans.tolist()
    [[0, 2], [2, 3]]
    """
    spans = lay_out_documents(map(len, documents))
    return DocumentBatch(memoryview(b"".join(documents)), spans, source)


def encode_text(text: str, place: Callable[[], str], options: ReadOptions, tell: Tell) -> bytes:
    """Make a string a document; what UTF-8 cannot hold is replaced and told, or refused if strict.

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


def normalized(batch: DocumentBatch) -> DocumentBatch:
    """Bring every document to the Unicode normal form C.

    >>> decomposed = batch_of_documents(["e\u0301".encode(), b"x"], "<python>")
    >>> [document.decode() for document in normalized(decomposed).documents()]
    ['é', 'x']
    """
    # A part of a text in form C is in form C too, so nearly every batch passes by one test of the
    # whole, without a copy of its documents.
    # Between documents there may be anything, even bytes that are not UTF-8.
    data = batch.data.tobytes()
    if data.isascii() or unicodedata.is_normalized("NFC", data.decode(errors="replace")):
        return batch
    texts: Iterable[str] = (data[begin:end].decode() for begin, end in batch.spans.tolist())
    return batch_of_documents(
        [unicodedata.normalize("NFC", text).encode() for text in texts], batch.source
    )
