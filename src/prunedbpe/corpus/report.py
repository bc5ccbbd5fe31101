"""What was read from a corpus, and what was not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from prunedbpe.errors import FormatError
from prunedbpe.types import Settings


@dataclass(frozen=True)
class CorpusReport:
    """Sums over the documents handed out so far; the reports of all shards add up to the whole.

    >>> CorpusReport(2, 10, 1) + CorpusReport(1, 5, 1, skipped=("b.bin",))
    CorpusReport(documents=3, bytes=15, files=2, skipped=('b.bin',), replaced_documents=0, \
skipped_lines=0)

    Attributes:
        documents: Documents that hold text.
        bytes: Their UTF-8 bytes.
        files: Files read, empty ones too. A file cut by shards counts where it begins.
        skipped: Inputs that are not UTF-8: files left out as a whole, and ``-`` if lines of
            standard input were.
        replaced_documents: Documents in which lone surrogates became U+FFFD.
        skipped_lines: Lines of standard input that are not UTF-8.
    """

    documents: int = 0
    bytes: int = 0
    files: int = 0
    skipped: tuple[str, ...] = ()
    replaced_documents: int = 0
    skipped_lines: int = 0

    def __add__(self, other: CorpusReport) -> CorpusReport:
        return CorpusReport(
            documents=self.documents + other.documents,
            bytes=self.bytes + other.bytes,
            files=self.files + other.files,
            # Every shard that holds a part of a bad file names it; together they name it once.
            skipped=tuple(dict.fromkeys(self.skipped + other.skipped)),
            replaced_documents=self.replaced_documents + other.replaced_documents,
            skipped_lines=self.skipped_lines + other.skipped_lines,
        )

    def why_empty(self) -> str:
        """Why no text was read."""
        return "no text was read"

    def as_settings(self) -> Settings:
        """The report as a JSON object."""
        return {**asdict(self), "skipped": list(self.skipped)}

    @classmethod
    def from_settings(cls, settings: Settings) -> CorpusReport:
        """Read back what :meth:`as_settings` gave.

        Raises:
            FormatError: A field is missing, unknown, or of another type.
        """
        given: dict[str, Any] = dict(settings)
        skipped = given.pop("skipped", [])
        if not isinstance(skipped, list) or not all(isinstance(name, str) for name in skipped):
            raise FormatError(f"corpus report: 'skipped' is not a list of names: {skipped!r}")
        for name, value in given.items():
            if name not in cls.__match_args__ or not isinstance(value, int):
                raise FormatError(f"corpus report: field {name!r} has the value {value!r}")
        return cls(**given, skipped=tuple(skipped))


Tell = Callable[[CorpusReport], None]
"""Takes what a reader has to report beside its documents, to be added to the rest."""
