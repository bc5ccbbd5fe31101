"""Documents for the study: which are trained on, which are held out, and in which order.

In: paths of a corpus. Out: :class:`Texts`, the same for every arm. All decisions are hashes of the
text, so they do not depend on the layout of files. Everything is kept in memory.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from prunedbpe import Corpus
from prunedbpe.errors import CorpusError

SHORTEST_DOCUMENT = 2_000
"""A shorter document is joined with the next one of its file."""

LONGEST_MEASURED = 16_000
"""Bytes of a held-out document that are measured at most, so that no book outweighs the others."""

HELD_OUT_SHARE = 32
"""One document of so many is held out."""


@dataclass(frozen=True)
class Document:
    """A text, and where it is from.

    Attributes:
        text: Valid Unicode, not empty.
        part: The folder of the corpus it is from, or its file: what results are divided by.
        source: Its file.
    """

    text: str
    part: str
    source: str

    @cached_property
    def data(self) -> bytes:
        """The text as UTF-8."""
        return self.text.encode()

    @cached_property
    def digest(self) -> bytes:
        """Hash of the text."""
        return hashlib.blake2b(self.data, digest_size=32).digest()


@dataclass(frozen=True)
class Texts:
    """Both sides of the corpus.

    Attributes:
        train: For tokenizers and models, in the order of the corpus.
        held_out: To measure on, in the order of their hashes; long ones are cut.
    """

    train: Sequence[Document]
    held_out: Sequence[Document]

    def in_order(self, seed: int) -> list[Document]:
        """The documents to train on, in the order of a seed."""
        prefix = f"{seed} ".encode()

        def place(document: Document) -> bytes:
            return hashlib.blake2b(prefix + document.digest, digest_size=16).digest()

        return sorted(self.train, key=place)

    @cached_property
    def digests(self) -> dict[str, str]:
        """One hash for each side, of all its documents."""
        return {"train": joint_digest(self.train), "held_out": joint_digest(self.held_out)}

    def curve_documents(self, most_bytes: int) -> int:
        """How many of the held-out documents come first without exceeding some bytes."""
        total = 0
        for number, document in enumerate(self.held_out):
            total += len(document.data)
            if total > most_bytes:
                return max(1, number)
        return len(self.held_out)


def joint_digest(documents: Iterable[Document]) -> str:
    """Hash of all documents, whatever their order."""
    joined = b"".join(sorted(document.digest for document in documents))
    return hashlib.blake2b(joined, digest_size=16).hexdigest()


def read_texts(paths: Sequence[str | Path]) -> Texts:
    """Read a corpus and divide it.

    Args:
        paths: Files and folders, of any format that the library reads.

    Raises:
        CorpusError: There are too few documents to hold one out.
    """
    train, held_out = [], []
    for document in read_documents(paths):
        if int.from_bytes(document.digest[:8], "big") % HELD_OUT_SHARE:
            train.append(document)
        else:
            held_out.append(cut(document, LONGEST_MEASURED))
    if not train or not held_out:
        raise CorpusError(
            f"{len(train) + len(held_out)} documents, none of them for one of the two sides",
            hint=f"one document of {HELD_OUT_SHARE} is held out; give more text",
        )
    unique = {document.digest: document for document in held_out}
    return Texts(train, [unique[digest] for digest in sorted(unique)])


def read_documents(paths: Sequence[str | Path]) -> Iterator[Document]:
    """The documents of a corpus, short ones joined with their neighbours."""
    names = Corpus([os.fspath(path) for path in paths]).sources
    folders = [Path(path) for path in paths if Path(path).is_dir()]
    for name in names:
        part = part_of(name, folders)
        for text in join_short(raw_documents(name), SHORTEST_DOCUMENT):
            yield Document(text, part, Path(name).name)


def part_of(name: str, folders: Sequence[Path]) -> str:
    """The first folder on the way to a file, or the file's name."""
    for folder in folders:
        if Path(name).is_relative_to(folder):
            first = Path(name).relative_to(folder).parts[0]
            return first if Path(folder, first).is_dir() else Path(first).stem
    return Path(name).stem


def raw_documents(name: str) -> Iterator[str]:
    """The documents of a file; in plain text, a blank line ends one."""
    if name.endswith(".txt"):
        for text in Path(name).read_text(encoding="utf-8").split("\n\n"):
            if text.strip():
                yield text.strip("\n")
        return
    for batch in Corpus(name).batches():
        for document in batch.documents():
            yield document.decode()


def join_short(texts: Iterable[str], shortest: int) -> Iterator[str]:
    r"""Join texts until each has some bytes; the last may have fewer.

    >>> list(join_short(["a", "bb", "cccc", "d"], 3))
    ['a\n\nbb', 'cccc', 'd']
    """
    waiting: list[str] = []
    size = 0
    for text in texts:
        waiting.append(text)
        size += len(text.encode())
        if size >= shortest:
            yield "\n\n".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield "\n\n".join(waiting)


def cut(document: Document, most_bytes: int) -> Document:
    """The beginning of a document, up to the end of a line or at least of a character."""
    if len(document.data) <= most_bytes:
        return document
    data = document.data[:most_bytes]
    line_end = data.rfind(b"\n")
    text = data[: line_end + 1 or None].decode(errors="ignore")
    return Document(text, document.part, document.source)
