"""Unigram by sentencepiece, on the same chunks and bytes as every other method.

Kudo 2018, arXiv 1804.10959. The trainer gets the unique chunks with their counts, one "sentence"
each, and every byte as one private character: byte-level, without normalization and without any
split of its own. Encoding takes the most probable tokens. Needs the extra ``study``.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from prunedbpe.counts import ChunkCounts
from prunedbpe.errors import InsufficientCandidatesError, MissingExtraError
from prunedbpe.types import BYTE_COUNT

_FIRST = 0xE000
"""Byte ``b`` is the private character ``_FIRST + b``."""
_ALPHABET = str.maketrans({chr(byte): chr(_FIRST + byte) for byte in range(BYTE_COUNT)})
_BATCH = 10_000


@dataclass(frozen=True, eq=False)
class Unigram:
    """A trained Unigram model.

    Attributes:
        tokens: The learned tokens, most probable first; the 256 bytes are not among them.
    """

    tokens: list[bytes]
    _model: Any

    def length(self, counts: ChunkCounts, *, threads: int | None = None) -> int:
        """Return the number of tokens of a corpus, each chunk encoded by the model."""
        chunks = list(_chunks(counts))
        total = 0
        for start in range(0, len(chunks), _BATCH):
            batch = chunks[start : start + _BATCH]
            encoded = self._model.encode(batch, out_type=int, num_threads=threads or -1)
            weights = counts.counts[start : start + _BATCH].tolist()
            total += sum(len(ids) * weight for ids, weight in zip(encoded, weights, strict=True))
        return total


def learn_unigram(counts: ChunkCounts, required: int, *, threads: int | None = None) -> Unigram:
    """Train Unigram.

    Args:
        counts: The corpus.
        required: Number of learned tokens.
        threads: One per core by default.

    Raises:
        InsufficientCandidatesError: The corpus supports fewer tokens.
        MissingExtraError: sentencepiece is not installed.
    """
    try:
        import sentencepiece
    except ImportError as error:
        raise MissingExtraError("sentencepiece", "study", "Unigram") from error
    written = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "chunks.tsv"
        with table.open("w", encoding="utf-8") as file:
            # Once more every byte, so that all 256 are in the vocabulary.
            file.writelines(f"{chr(_FIRST + byte)}\t1\n" for byte in range(BYTE_COUNT))
            for chunk, count in zip(_chunks(counts), counts.counts.tolist(), strict=True):
                file.write(f"{chunk}\t{count}\n")
        try:
            sentencepiece.SentencePieceTrainer.train(
                input=str(table),
                input_format="tsv",
                model_writer=written,
                model_type="unigram",
                vocab_size=1
                + BYTE_COUNT
                + required,  # an unknown token is obligatory; it never occurs
                character_coverage=1.0,
                max_sentencepiece_length=254,
                max_sentence_length=1 << 30,
                normalization_rule_name="identity",
                add_dummy_prefix=False,
                remove_extra_whitespaces=False,
                split_by_unicode_script=False,
                split_by_number=False,
                split_by_whitespace=False,
                bos_id=-1,
                eos_id=-1,
                num_threads=threads or os.cpu_count() or 1,
                minloglevel=2,
            )
        except RuntimeError as error:
            if "Vocabulary size too high" not in str(error):
                raise
            raise InsufficientCandidatesError(
                f"Unigram cannot fill {required} tokens on this corpus",
                hint="choose a smaller vocabulary, or use a larger corpus",
            ) from error
    model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    pieces = [model.id_to_piece(number) for number in range(1, model.get_piece_size())]
    tokens = [bytes(ord(character) - _FIRST for character in piece) for piece in pieces]
    return Unigram([token for token in tokens if len(token) > 1], model)


def _chunks(counts: ChunkCounts) -> Iterator[str]:
    """Yield the unique chunks in private characters."""
    data = counts.data.tobytes()
    for start, end in pairwise(counts.offsets.tolist()):
        yield data[start:end].decode("latin-1").translate(_ALPHABET)
