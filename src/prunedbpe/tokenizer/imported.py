"""A tokenizer imported from another library: the native encoder, the original's token ids.

An imported tokenizer has the ids, special tokens and way of cutting of its original. It is Standard
BPE, or the fewest tokens of a Unigram model, whose tokens have no merges. It is a
:class:`~prunedbpe.tokenizer.Tokenizer` in every respect: audit it, retarget it, use it in
transformers. ``encode`` returns the original library's ids, unless you chose another segmentation
than the original's. Some libraries always find added tokens in text; ``allowed_special="all"`` does
the same.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from prunedbpe._support.arguments import to_path
from prunedbpe._support.atomic_files import json_bytes, write_together
from prunedbpe._support.commit import read_together
from prunedbpe._support.input_files import naming
from prunedbpe._support.json_values import JsonValue, shown
from prunedbpe.errors import FormatError, NotExactError, PrunedBPEError
from prunedbpe.pretokenizers.foreign_cut import ForeignCut
from prunedbpe.tokenizer.encode_options import SEED_MASK, EncodePlan
from prunedbpe.tokenizer.folder import (
    IMPORTED_FORMAT,
    SETTINGS_FILE,
    TOKENIZER_FILES,
    read_segmentation,
    read_settings,
    version_for,
)
from prunedbpe.tokenizer.id_arguments import TokenIds
from prunedbpe.tokenizer.tokenizer import Tokenizer
from prunedbpe.types import Segmentation, Settings, UInt32Array
from prunedbpe.vocabulary.foreign_vocabulary import ForeignVocabulary
from prunedbpe.vocabulary.vocabulary_files import paper_files, read_paper_files


class ImportedTokenizer(Tokenizer):
    """Encodes as the library it was imported from, or with its tokens into the fewest.

    Args:
        vocabulary: Merges, and the original's ids.
        cut: How the original cuts text.
        whole_chunks: The original looks up a chunk before merging it, so a chunk that equals a
            token is that token even if no merge makes it.
        origin: Where it comes from, saved with it.
        segmentation: ``"rank"`` as the original, or ``"shortest"``; saved with it. The latter also
            uses the tokens that no merge makes.
    """

    def __init__(
        self,
        vocabulary: ForeignVocabulary,
        cut: ForeignCut,
        *,
        whole_chunks: bool = False,
        origin: Settings | None = None,
        segmentation: Segmentation = "rank",
    ) -> None:
        training = {"imported": dict(origin or {})}
        super().__init__(vocabulary, cut.pretokenizer, training, segmentation)
        self.cut = cut
        self.foreign = vocabulary
        self.whole_chunks = whole_chunks
        self._whole_chunk_ids = dict(vocabulary.unmergeable) if whole_chunks else {}
        self._is_native = False  # each text is checked first, see _cuts_natively

    def __reduce__(self) -> tuple[Any, Any]:
        origin = self.training["imported"]
        return _rebuild, (self.foreign, self.cut, self.whole_chunks, origin, self.segmentation)

    # Encoding

    def _cuts_natively(self, texts: Sequence[str]) -> bool:
        """Whether the scanner cuts these texts as the original library does."""
        return self.pretokenizer.is_native and self.cut.are_plain(texts)

    def _normalize(self, text: str) -> str:
        return self.cut.normalized(text)

    def _encode_ordinary(self, text: str, plan: EncodePlan, seed: int) -> UInt32Array:
        if self._cuts_natively([text]):
            return super()._encode_ordinary(text, plan, seed)
        text = self._normalize(text)
        data = np.frombuffer(text.encode(), np.uint8)
        ends = self.cut.chunk_ends(text)
        if plan.segmentation == "shortest":
            return self._shortest.native.encode_chunks(data, ends)
        return self._encoder.encode_chunks(data, ends, plan.dropout, seed & SEED_MASK)

    def decode_bytes(self, ids: TokenIds) -> bytes:
        """As :meth:`Tokenizer.decode_bytes`; unassigned ids are errors too."""
        data = super().decode_bytes(ids)  # checks their range
        if self._has_unused_ids:
            spelled = np.asarray(ids, np.int64)
            unused = spelled[self._byte_lengths[spelled] == 0]
            if len(unused):
                raise PrunedBPEError(f"cannot decode: no token has the id {int(unused[0])}")
        return data

    def decode(self, ids: TokenIds, *, errors: str = "replace") -> str:
        """As :meth:`Tokenizer.decode`; unassigned ids are errors too."""
        return self.decode_bytes(ids).decode("utf-8", errors)

    @cached_property
    def _has_unused_ids(self) -> bool:
        return not self._byte_lengths.all()

    # Files and checks

    def check_tokens(self) -> None:
        """Check that the bytes of each token that a merge makes are that token when encoded alone.

        Raises:
            NotExactError: They are not; the message names a token.
        """
        strings = self.vocabulary.strings
        data = np.frombuffer(b"".join(strings), np.uint8)
        ends = np.cumsum([len(string) for string in strings], dtype=np.int64)
        ids = self._encoder.encode_chunks(data, ends, 0.0, 0)
        if not np.array_equal(ids, self.vocabulary.token_ids):
            same = ids[: len(strings)] == self.vocabulary.token_ids[: len(ids)]
            raise NotExactError(
                f"the merges do not make the token {shown(strings[int(same.argmin())])}"
            )

    def save(self, folder: str | Path) -> None:
        """Write the merges as vocabulary files, and the original's ids in the settings."""
        foreign = self.foreign
        settings = {
            "format": IMPORTED_FORMAT,
            "version": version_for(self.segmentation),
            "segmentation": self.segmentation,
            "cut": self.cut.describe(),
            "whole_chunks": self.whole_chunks,
            "origin": self.training["imported"],
            "ids_of_ranks": list(foreign.ids_of_ranks),
            "ids_of_specials": list(foreign.ids_of_specials),
            "unmergeable": [
                [base64.b64encode(string).decode(), token_id]
                for string, token_id in foreign.unmergeable
            ],
        }
        contents = {**paper_files(foreign.as_own()), SETTINGS_FILE: json_bytes(settings)}
        write_together(to_path(folder), contents)

    @classmethod
    def load(cls, folder: str | Path) -> ImportedTokenizer:
        """Read a folder that :meth:`save` wrote.

        Raises:
            FormatError: A file is missing or wrong; the message names the file and the place.
        """
        folder = to_path(folder)
        return read_together(folder, TOKENIZER_FILES, lambda: cls._load(folder))

    @classmethod
    def _load(cls, folder: Path) -> ImportedTokenizer:
        path = folder / SETTINGS_FILE
        settings = read_settings(folder)
        if settings["format"] != IMPORTED_FORMAT:
            raise FormatError(f"{path}: not the settings of an imported tokenizer")
        segmentation = read_segmentation(folder, settings)
        own = read_paper_files(folder)
        fields = JsonValue(settings)
        with naming(path):
            vocabulary = ForeignVocabulary(
                own.pairs,
                own.visible,
                own.special_tokens,
                ids_of_ranks=_ids(fields["ids_of_ranks"]),
                ids_of_specials=_ids(fields["ids_of_specials"]),
                unmergeable=tuple(map(_unmergeable, fields["unmergeable"].items())),
            )
            return cls(
                vocabulary,
                ForeignCut.from_settings(fields["cut"].object()),
                whole_chunks=fields["whole_chunks"].flag(),
                origin=fields["origin"].object(),
                segmentation=segmentation,
            )


def _ids(field: JsonValue) -> tuple[int, ...]:
    return tuple(item.value for item in field.items())  # the vocabulary checks them


def _unmergeable(entry: JsonValue) -> tuple[bytes, int]:
    match entry.value:
        case [str() as text, token_id]:
            try:
                return base64.b64decode(text, validate=True), token_id
            except ValueError:
                pass
    raise entry.error("a token in base64 and an id")


def _rebuild(
    vocabulary: ForeignVocabulary,
    cut: ForeignCut,
    whole_chunks: bool,
    origin: Settings,
    segmentation: Segmentation,
) -> ImportedTokenizer:
    """For pickle, which calls with positional arguments only."""
    return ImportedTokenizer(
        vocabulary, cut, whole_chunks=whole_chunks, origin=origin, segmentation=segmentation
    )
