"""Documents in batches, the unit of streaming, and the report of what was read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NoReturn

import numpy as np

from prunedbpe._support.sizes import format_size
from prunedbpe.errors import CorpusError, FormatError
from prunedbpe.types import AnyArray, ByteArray, Int64Array, Settings, UInt32Array

MOST_PLACES = 20
"""A report names at most this many of the documents that were skipped."""


Missing = Literal["error", "empty", "skip"]
"""What a row or record without text is: an error, a document without text, or no document."""


@dataclass(frozen=True)
class ReadOptions:
    """How documents are read; see :class:`prunedbpe.corpus.Corpus`.

    Attributes:
        missing: What a null is. By default it is no document in a table, and an error in JSON lines
            and in an iterable. With ``"empty"``, empty strings are documents too, so there are as
            many documents as rows.
    """

    text_field: str = "text"
    strict: bool = False
    batch_bytes: int = 16 << 20
    source_field: str | None = None
    max_document_bytes: int = 10**9
    missing: Missing | None = None

    @property
    def keeps_empty(self) -> bool:
        """Whether rows without text are documents."""
        return self.missing == "empty"

    def check_length(self, length: int, place: str) -> None:
        """Refuse a document that is longer than the limit.

        Args:
            length: Bytes known so far.
            place: The file, and where in it the document begins.

        Raises:
            CorpusError: It is too long.
        """
        if length > self.max_document_bytes:
            raise CorpusError(
                f"{place}: the document is longer than {format_size(self.max_document_bytes)}",
                hint="a document is held in memory as a whole: cut it, or raise max_document_bytes "
                "(--max-document); of a file named .txt every line is a document",
            )


def refuse_missing(place: str) -> NoReturn:
    """Raise the error for a row or record without text."""
    raise CorpusError(
        f"{place}: no text, the value is null",
        hint="to encode it as an empty row or to leave it out, set missing to 'empty' or 'skip' "
        "(encode --missing)",
    )


NO_SOURCE = "<none>"
"""The source of a document without the source field."""


@dataclass(frozen=True, eq=False)
class SourceColumn:
    """The source field of the documents of a batch.

    Attributes:
        names: Some source names, each once; some may not be used.
        indices: An index into the names for each document.
    """

    names: tuple[str, ...]
    indices: UInt32Array

    @classmethod
    def from_values(cls, values: Sequence[str | None]) -> SourceColumn:
        """Encode the values of the field; missing and empty ones are :data:`NO_SOURCE`.

        >>> column = SourceColumn.from_values(["en", None, "en"])
        >>> column.names, column.indices.tolist()
        (('en', '<none>'), [0, 1, 0])
        """
        numbers: dict[str, int] = {}
        indices = [numbers.setdefault(value or NO_SOURCE, len(numbers)) for value in values]
        return cls(tuple(numbers), np.array(indices, np.uint32))

    def __getitem__(self, documents: slice | AnyArray) -> SourceColumn:
        """Return the column of some of the documents."""
        return replace(self, indices=self.indices[documents])


@dataclass(frozen=True, eq=False)
class DocumentBatch:
    """Some documents of one file, as flat UTF-8 bytes.

    Attributes:
        data: The bytes. Bytes outside all spans (line ends, skipped documents) may be anything.
        spans: One row ``begin, end`` into ``data`` for each document, in order; none is empty,
            unless the corpus keeps rows without text.
        source: The file's path as given, ``-`` for standard input, ``<python>`` for an iterable.
        sources: The source field of each document, if it was asked for and the file has fields.
    """

    data: ByteArray
    spans: Int64Array
    source: str
    sources: SourceColumn | None = None

    @classmethod
    def from_documents(
        cls, documents: Sequence[bytes], source: str, *, keep_empty: bool = False
    ) -> DocumentBatch:
        """Lay documents end to end; by default without the empty ones.

        >>> DocumentBatch.from_documents([b"ab", b"", b"c"], "<python>").spans.tolist()
        [[0, 2], [2, 3]]
        """
        lengths = np.fromiter(map(len, documents), np.int64, len(documents))
        if not keep_empty:
            lengths = lengths[lengths > 0]
        ends = np.cumsum(lengths)
        data = np.frombuffer(b"".join(documents), np.uint8)
        return cls(data, np.column_stack([ends - lengths, ends]), source)

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def text_bytes(self) -> int:
        """Bytes of all documents."""
        return int((self.spans[:, 1] - self.spans[:, 0]).sum())

    def documents(self) -> Iterator[bytes]:
        """The documents one by one, as copies."""
        for begin, end in self.spans.tolist():
            yield self.data[begin:end].tobytes()

    def normalized(self, form: Literal["NFC"]) -> DocumentBatch:
        """Return the batch with every document in a Unicode normal form.

        >>> decomposed = DocumentBatch.from_documents(["e\u0301".encode(), b"x"], "<python>")
        >>> [document.decode() for document in decomposed.normalized("NFC").documents()]
        ['é', 'x']
        """
        # Any part of a text in form C is in form C too, so one test of the whole batch passes
        # nearly every batch without copying its documents.
        data = self.data.tobytes()
        if data.isascii() or unicodedata.is_normalized(form, data.decode(errors="replace")):
            return self
        texts = (data[begin:end].decode() for begin, end in self.spans.tolist())
        documents = [unicodedata.normalize(form, text).encode() for text in texts]
        batch = DocumentBatch.from_documents(documents, self.source, keep_empty=True)
        return replace(batch, sources=self.sources)


@dataclass(frozen=True)
class CorpusReport:
    """Sums over the documents read so far; the reports of all shards add up to the whole.

    >>> CorpusReport(2, 10, 1) + CorpusReport(1, 5, 1, 1, ("b.txt, byte 17: not UTF-8",))
    CorpusReport(documents=3, bytes=15, files=2, skipped_documents=1, \
skipped=('b.txt, byte 17: not UTF-8',), replaced_documents=0)

    Attributes:
        documents: Documents that hold text.
        bytes: Their UTF-8 bytes.
        files: Files opened, empty and skipped ones too. A file shared by several shards counts
            in the shard that holds its beginning.
        skipped_documents: Documents skipped because they are not UTF-8. A UTF-16 file counts as
            one.
        skipped: Where they are, in corpus order; at most the first :data:`MOST_PLACES`.
        replaced_documents: Documents in which U+FFFD replaced lone surrogates.
    """

    documents: int = 0
    bytes: int = 0
    files: int = 0
    skipped_documents: int = 0
    skipped: tuple[str, ...] = ()
    replaced_documents: int = 0

    def __add__(self, other: CorpusReport) -> CorpusReport:
        return CorpusReport(
            documents=self.documents + other.documents,
            bytes=self.bytes + other.bytes,
            files=self.files + other.files,
            skipped_documents=self.skipped_documents + other.skipped_documents,
            skipped=(self.skipped + other.skipped)[:MOST_PLACES],
            replaced_documents=self.replaced_documents + other.replaced_documents,
        )

    def why_empty(self) -> str:
        """Explain why no text was read.

        >>> CorpusReport(files=2).why_empty()
        'no text was read: 2 files, all empty'
        >>> CorpusReport(files=3, skipped_documents=3).why_empty()
        'no text was read: 3 documents of 3 files skipped, not UTF-8'
        """
        files = counted(self.files, "file")
        if self.skipped_documents:
            documents = counted(self.skipped_documents, "document")
            return f"no text was read: {documents} of {files} skipped, not UTF-8"
        if self.files:
            return f"no text was read: {files}, {'all ' if self.files > 1 else ''}empty"
        return "no text was read from the iterable"

    def as_settings(self) -> Settings:
        """Return the report as a JSON object."""
        return {**asdict(self), "skipped": list(self.skipped)}

    @classmethod
    def from_settings(cls, settings: Settings) -> CorpusReport:
        """Read what :meth:`as_settings` returned.

        Raises:
            FormatError: A field is unknown or of the wrong type.
        """
        given: dict[str, Any] = dict(settings)
        skipped = given.pop("skipped", [])
        if not isinstance(skipped, list) or not all(isinstance(place, str) for place in skipped):
            raise FormatError(f"corpus report: 'skipped' is not a list of places: {skipped!r}")
        for name, value in given.items():
            if name not in cls.__match_args__ or not isinstance(value, int):
                raise FormatError(f"corpus report: field {name!r} has the value {value!r}")
        return cls(**given, skipped=tuple(skipped))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "file"), counted(1200, "file")
    ('1 file', '1,200 files')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def check_lengths(spans: Int64Array, options: ReadOptions, place: Callable[[int], str]) -> None:
    """Refuse the longest of some documents if it is too long; ``place`` names a document by row."""
    if len(spans):
        lengths = spans[:, 1] - spans[:, 0]
        longest = int(lengths.argmax())
        if lengths[longest] > options.max_document_bytes:
            options.check_length(int(lengths[longest]), place(longest))


def report_skipped(places: Sequence[str], options: ReadOptions) -> CorpusReport:
    """Report documents that are not UTF-8, each named by its place.

    Raises:
        CorpusError: There are some, and the options are strict.
    """
    places = [f"{place}: not UTF-8" for place in places]
    if places and options.strict:
        raise CorpusError(
            places[0],
            hint="convert the text to UTF-8, take it out, or leave out strict to skip it",
        )
    return CorpusReport(skipped_documents=len(places), skipped=tuple(places[:MOST_PLACES]))


def replace_surrogates(error: UnicodeEncodeError, place: str, options: ReadOptions) -> bytes:
    """Encode a text with U+FFFD for its lone surrogates.

    Raises:
        CorpusError: The options are strict.
    """
    text = error.object
    if options.strict:
        raise CorpusError(
            f"{place}: lone surrogate U+{ord(text[error.start]):04X} at character {error.start}, "
            "which UTF-8 cannot express",
            hint="repair the text, or leave out strict to replace surrogates by U+FFFD",
        ) from error
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()
