"""A tokenizer made elsewhere: our encoder, the original's ids.

An imported tokenizer is Standard BPE whose ids, order of special tokens and way of cutting are
those of its original. It is a :class:`~prunedbpe.tokenizer.Tokenizer` in all it does: audit it,
retarget it, put it behind transformers. ``encode`` gives the original library's ids; where that
library finds added tokens in text by itself, ``allowed_special="all"`` does the same.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from prunedbpe._support.atomic_files import json_bytes, read_json, write_together
from prunedbpe.errors import FormatError, PrunedBPEError, SettingsError
from prunedbpe.pretokenizers.foreign_cut import ForeignCut
from prunedbpe.tokenizer.folder import IMPORTED_FORMAT, SETTINGS_FILE
from prunedbpe.tokenizer.tokenizer import Segmentation, TokenIds, Tokenizer
from prunedbpe.types import ByteArray, Int64Array, Settings, UInt32Array
from prunedbpe.vocabulary.foreign_vocabulary import ForeignVocabulary
from prunedbpe.vocabulary.vocabulary_files import paper_files, read_paper_files

FORMAT_VERSION = 1


class ImportedTokenizer(Tokenizer):
    """Encodes as the library it was imported from.

    Args:
        vocabulary: Merges, and the original's ids.
        cut: How the original cuts text.
        whole_chunks: The original looks a chunk up before merging it, so that a token no merge
            makes is emitted where a chunk is just that token.
        origin: Where it comes from, saved with it.
    """

    def __init__(
        self,
        vocabulary: ForeignVocabulary,
        cut: ForeignCut,
        *,
        whole_chunks: bool = False,
        origin: Settings | None = None,
    ) -> None:
        super().__init__(vocabulary, cut.pretokenizer, {"imported": dict(origin or {})})
        self.cut = cut
        self.foreign = vocabulary
        self.whole_chunks = whole_chunks
        self._whole = dict(vocabulary.unmergeable) if whole_chunks else {}
        self._is_direct = False

    def __reduce__(self) -> tuple[Any, Any]:
        state = (self.foreign, self.cut, self.whole_chunks, self.training["imported"])
        return _rebuild, state

    # Encoding

    def _encode_ordinary(
        self, text: str, dropout: float, seed: int, segmentation: Segmentation
    ) -> UInt32Array:
        if segmentation != "rank":
            raise SettingsError(
                "an imported tokenizer encodes as the original does, by rank",
                hint="leave out segmentation",
            )
        if not self._whole and self.cut.is_plain(text):
            return super()._encode_ordinary(text, dropout, seed, segmentation)
        text = self.cut.normalized(text)
        data = np.frombuffer(text.encode(), np.uint8)
        ends = self.cut.chunk_ends(text)
        seed &= 0xFFFFFFFFFFFFFFFF
        parts = []
        done = 0  # chunks encoded so far
        for place, token_id in self._whole_chunks_in(data, ends) if dropout == 0.0 else ():
            parts.append(self._encode_chunks(data, ends[done:place], ends[done - 1] if done else 0))
            parts.append(np.array([token_id], np.uint32))
            done = place + 1
        begin = ends[done - 1] if done else 0
        if not done:
            ids: UInt32Array = self._encoder.encode_chunks(data, ends, dropout, seed)
            return ids
        parts.append(self._encode_chunks(data, ends[done:], begin))
        return np.concatenate(parts)

    def _encode_chunks(self, data: ByteArray, ends: Int64Array, begin: int) -> UInt32Array:
        if not len(ends):
            return np.zeros(0, np.uint32)
        ids: UInt32Array = self._encoder.encode_chunks(
            np.ascontiguousarray(data[begin : ends[-1]]), ends - begin, 0.0, 0
        )
        return ids

    def _whole_chunks_in(
        self,
        data: ByteArray,
        ends: Int64Array,
    ) -> Iterable[tuple[int, int]]:
        """Places of chunks that are tokens no merge makes, and the ids of these."""
        if not self._whole or not len(ends):
            return
        lengths = np.diff(ends, prepend=0)
        spelled = data.tobytes()
        for place in np.flatnonzero(np.isin(lengths, self._whole_lengths)).tolist():
            end = int(ends[place])
            token_id = self._whole.get(spelled[end - int(lengths[place]) : end])
            if token_id is not None:
                yield place, token_id

    @cached_property
    def _whole_lengths(self) -> Int64Array:
        return np.array(sorted({len(string) for string in self._whole}), np.int64)

    def _takes_whole(self, texts: list[str]) -> bool:
        """Only where our scanner cuts as the original does."""
        return (
            super()._takes_whole(texts) and not self._whole and all(map(self.cut.is_plain, texts))
        )

    def decode_bytes(self, ids: TokenIds) -> bytes:
        """As :meth:`Tokenizer.decode_bytes`; ids that no token has are errors too."""
        if len(self._holes) and len(ids):
            bad = np.intersect1d(np.asarray(ids, np.int64), self._holes)
            if len(bad):
                raise PrunedBPEError(f"cannot decode: no token has the id {int(bad[0])}")
        return super().decode_bytes(ids)

    def decode(self, ids: TokenIds, *, errors: str = "replace") -> str:
        """The text that ids spell; as :meth:`Tokenizer.decode`, ids nobody has are refused."""
        return self.decode_bytes(ids).decode("utf-8", errors)

    @cached_property
    def _holes(self) -> Int64Array:
        empty = [i for i, string in enumerate(self.vocab_bytes()) if not string]
        return np.array(empty, np.int64)

    # Files

    def save(self, folder: str | Path) -> None:
        """Write the merges as a vocabulary of ours, and the original's ids in the settings."""
        foreign = self.foreign
        settings = {
            "format": IMPORTED_FORMAT,
            "version": FORMAT_VERSION,
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
        write_together(Path(folder), contents)

    @classmethod
    def load(cls, folder: str | Path) -> ImportedTokenizer:
        """Read a folder that :meth:`save` wrote.

        Raises:
            FormatError: A file is missing or wrong.
        """
        path = Path(folder) / SETTINGS_FILE
        settings = read_json(path)
        if not isinstance(settings, dict) or settings.get("format") != IMPORTED_FORMAT:
            raise FormatError(f"{path}: not the settings of an imported tokenizer")
        if settings.get("version") != FORMAT_VERSION:
            raise FormatError(
                f"{path}: version {settings.get('version')!r} is not known here",
                hint="install the version of prunedbpe that wrote it",
            )
        own = read_paper_files(Path(folder))
        try:
            vocabulary = ForeignVocabulary(
                own.pairs,
                own.visible,
                own.special_tokens,
                ids_of_ranks=tuple(map(int, settings["ids_of_ranks"])),
                ids_of_specials=tuple(map(int, settings["ids_of_specials"])),
                unmergeable=tuple(
                    (base64.b64decode(text), int(token_id))
                    for text, token_id in settings["unmergeable"]
                ),
            )
            cut = ForeignCut.from_settings(settings["cut"])
            whole_chunks, origin = bool(settings["whole_chunks"]), dict(settings["origin"])
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"{path}: damaged: {error}") from error
        if len(vocabulary.ids_of_ranks) != len(own.visible) or len(
            vocabulary.ids_of_specials
        ) != len(own.special_tokens):
            raise FormatError(f"{path}: ids and the vocabulary files do not belong together")
        return cls(vocabulary, cut, whole_chunks=whole_chunks, origin=origin)


def _rebuild(
    vocabulary: ForeignVocabulary, cut: ForeignCut, whole_chunks: bool, origin: Settings
) -> ImportedTokenizer:
    """For pickle, which calls with positional arguments only."""
    return ImportedTokenizer(vocabulary, cut, whole_chunks=whole_chunks, origin=origin)
