"""The tokenizer: text -> token ids and back. Immutable, thread-safe, native underneath.

Encoding cuts text into chunks, merges each by rank with all retained merges, and expands internal
tokens into visible ones. Text that looks like a special token is ordinary text unless allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from prunedbpe import _core
from prunedbpe._support.atomic_files import read_json
from prunedbpe._support.threads import thread_count
from prunedbpe.errors import PrunedBPEError, SettingsError
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer
from prunedbpe.tokenizer.folder import (
    IMPORTED_FORMAT,
    SETTINGS_FILE,
    read_tokenizer,
    write_tokenizer,
)
from prunedbpe.tokenizer.streaming import StreamingDecoder
from prunedbpe.tokenizer.surrogates import Surrogates, repair, with_repair
from prunedbpe.tokenizer.tiktoken_names import (
    SpecialSet,
    TiktokenMethods,
    refuse_special_text,
    special_pattern,
)
from prunedbpe.types import AnyArray, Int64Array, Rank, Settings, TokenId, UInt32Array
from prunedbpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    from prunedbpe.tokenizer.shortest import ShortestSegmenter

Segmentation = Literal["rank", "shortest"]
AllowedSpecial = Literal["all"] | Collection[str]
TokenIds = Sequence[int] | UInt32Array


class Tokenizer(TiktokenMethods):
    """Encodes and decodes with one vocabulary and one pretokenizer.

    Args:
        vocabulary: Merges, visibility and special tokens.
        pretokenizer: What cuts text before merging: the one of the training.
        training: How the vocabulary came about, saved with it.

    >>> import prunedbpe
    >>> tok = prunedbpe.train(["the cat in the hat", "that hat"], vocab_size=262, threshold=0)
    >>> tok.encode("the hat")
    [257, 101, 32, 104, 256]
    >>> tok.decode([257, 101, 32, 104, 256])
    'the hat'
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        pretokenizer: str | Pretokenizer = "paper",
        training: Settings | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.pretokenizer = find_pretokenizer(pretokenizer)
        self.training: Settings = dict(training or {})
        # Plain calls hand their text to the native encoder at once.
        self._is_direct = self.pretokenizer.is_native

    def __repr__(self) -> str:
        return (
            f"Tokenizer(vocab_size={self.vocab_size}, "
            f"internal={self.vocabulary.internal_count}, pretokenizer={self.pretokenizer.name!r})"
        )

    def __reduce__(self) -> tuple[Any, Any]:
        return type(self), (self.vocabulary, self.pretokenizer, self.training)

    # Files

    def save(self, folder: str | Path) -> None:
        """Write ``vocab.txt``, ``inter_vocab.txt`` and ``prunedbpe.json`` into a folder."""
        write_tokenizer(Path(folder), self.vocabulary, self.pretokenizer, self.training)

    @classmethod
    def load(cls, folder: str | Path) -> Tokenizer:
        """Read a folder that :meth:`save` wrote, and check every line of it.

        Raises:
            FormatError: A file is missing or wrong; the message names the file and the line.
        """
        path = Path(folder, SETTINGS_FILE)
        settings = read_json(path) if path.is_file() else None
        if isinstance(settings, dict) and settings.get("format") == IMPORTED_FORMAT:
            from prunedbpe.tokenizer.imported import ImportedTokenizer

            return ImportedTokenizer.load(folder)
        tokenizer = cls(*read_tokenizer(Path(folder)))
        # Who loads a tokenizer will encode: the first call shall not be slower than the others.
        _ = tokenizer._encoder
        return tokenizer

    # Encoding

    def encode(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = (),
        disallowed_special: SpecialSet = (),
        surrogates: Surrogates = "strict",
        dropout: float = 0.0,
        seed: int = 0,
        segmentation: Segmentation = "rank",
    ) -> list[int]:
        """Encode a text as visible token ids.

        Args:
            text: Any text.
            allowed_special: Special tokens whose text stands for them, ``"all"`` or by name; the
                text of any other is encoded like ordinary text.
            disallowed_special: Special tokens whose text is refused; ``"all"``: all not allowed.
            surrogates: A lone surrogate has no UTF-8: an error, or replaced by U+FFFD.
            dropout: BPE-dropout: at every step leave out each possible merge with this probability.
            seed: Which of the segmentations dropout gives.
            segmentation: ``"rank"`` merges by rank; ``"shortest"`` cuts every chunk into the fewest
                visible tokens, of equals the one with the longest first token, then second, ...
        """
        ids: list[int]
        is_plain = not (allowed_special or disallowed_special or dropout)
        if is_plain and segmentation == "rank" and self._is_direct:
            try:
                ids = self._encoder.encode(text)
            except UnicodeEncodeError:
                ids = self._encoder.encode(repair(text, surrogates))
            return ids
        ids = self.encode_to_numpy(
            text,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            surrogates=surrogates,
            dropout=dropout,
            seed=seed,
            segmentation=segmentation,
        ).tolist()
        return ids

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = (),
        disallowed_special: SpecialSet = (),
        surrogates: Surrogates = "strict",
        dropout: float = 0.0,
        seed: int = 0,
        segmentation: Segmentation = "rank",
    ) -> UInt32Array:
        """As :meth:`encode`, the ids as a ``uint32`` array."""
        ids: UInt32Array
        is_plain = not (allowed_special or disallowed_special or dropout)
        if is_plain and segmentation == "rank" and self._is_direct:
            try:
                ids = self._encoder.encode_to_array(text, 0.0, 0)
            except UnicodeEncodeError:
                ids = self._encoder.encode_to_array(repair(text, surrogates), 0.0, 0)
            return ids
        if not 0.0 <= dropout <= 1.0:
            raise SettingsError(f"dropout is {dropout}", hint="give a probability from 0 to 1")
        if segmentation == "shortest" and dropout:
            raise SettingsError("the shortest segmentation has no merges to drop")
        if segmentation not in get_args(Segmentation):
            raise SettingsError(f"segmentation={segmentation!r}", hint="give 'rank' or 'shortest'")
        if disallowed_special:
            refuse_special_text(text, self.special_tokens, allowed_special, disallowed_special)
        specials = self._allowed(allowed_special) if allowed_special else ()
        if not specials:
            try:
                return self._encode_ordinary(text, dropout, seed, segmentation)
            except UnicodeEncodeError:
                text = repair(text, surrogates)
                return self._encode_ordinary(text, dropout, seed, segmentation)
        try:
            text.encode()
        except UnicodeEncodeError:
            text = repair(text, surrogates)
        parts = []
        # The pattern captures, so special tokens stand at the odd places.
        for place, part in enumerate(special_pattern(specials).split(text)):
            if place % 2:
                parts.append(np.array([self.vocabulary.special_ids[part]], np.uint32))
            elif part:
                parts.append(self._encode_ordinary(part, dropout, seed + place, segmentation))
        return np.concatenate(parts) if parts else np.zeros(0, np.uint32)

    def _encode_ordinary(
        self, text: str, dropout: float, seed: int, segmentation: Segmentation
    ) -> UInt32Array:
        if segmentation == "shortest":
            return self._shortest.encode(text)
        seed &= 0xFFFFFFFFFFFFFFFF
        if self.pretokenizer.is_native:
            ids: UInt32Array = self._encoder.encode_to_array(text, dropout, seed)
            return ids
        data = np.frombuffer(text.encode(), np.uint8)
        ids = self._encoder.encode_chunks(data, self.pretokenizer.chunk_ends(data), dropout, seed)
        return ids

    def encode_batch(
        self,
        texts: Iterable[str],
        *,
        allowed_special: AllowedSpecial = (),
        disallowed_special: SpecialSet = (),
        surrogates: Surrogates = "strict",
        dropout: float = 0.0,
        seed: int = 0,
        segmentation: Segmentation = "rank",
        threads: int | None = None,
    ) -> list[list[int]]:
        """Encode many texts on many threads; as :meth:`encode` of each, with ``seed + i``."""
        texts = list(texts)
        for text in texts if disallowed_special else ():
            refuse_special_text(text, self.special_tokens, allowed_special, disallowed_special)
        one_by_one = allowed_special or segmentation != "rank" or not 0.0 <= dropout <= 1.0
        if not one_by_one and self._takes_whole(texts):
            settings = dropout, seed & 0xFFFFFFFFFFFFFFFF, thread_count(threads)
            lists: list[list[int]] = with_repair(
                lambda them: self._encoder.encode_batch_to_lists(them, *settings), texts, surrogates
            )
            return lists
        ids, offsets = self.encode_batch_to_numpy(
            texts,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            surrogates=surrogates,
            dropout=dropout,
            seed=seed,
            segmentation=segmentation,
            threads=threads,
        )
        flat = ids.tolist()
        bounds = offsets.tolist()
        return [flat[begin:end] for begin, end in pairwise(bounds)]

    def encode_batch_to_numpy(
        self,
        texts: Iterable[str],
        *,
        allowed_special: AllowedSpecial = (),
        disallowed_special: SpecialSet = (),
        surrogates: Surrogates = "strict",
        dropout: float = 0.0,
        seed: int = 0,
        segmentation: Segmentation = "rank",
        threads: int | None = None,
    ) -> tuple[UInt32Array, Int64Array]:
        """As :meth:`encode_batch`, flat: text ``i`` has ``ids[offsets[i]:offsets[i + 1]]``."""
        texts = list(texts)
        workers = thread_count(threads)
        for text in texts if disallowed_special else ():
            refuse_special_text(text, self.special_tokens, allowed_special, disallowed_special)
        one_by_one = allowed_special or segmentation != "rank" or not 0.0 <= dropout <= 1.0
        if not one_by_one and self._takes_whole(texts):
            settings = dropout, seed & 0xFFFFFFFFFFFFFFFF, workers
            return with_repair(
                lambda them: self._encoder.encode_batch(them, *settings), texts, surrogates
            )
        if segmentation == "shortest" and self._is_direct and not (allowed_special or dropout):
            return with_repair(
                lambda them: self._shortest.encode_batch(them, threads=workers), texts, surrogates
            )
        lists = [
            self.encode_to_numpy(
                text,
                allowed_special=allowed_special,
                surrogates=surrogates,
                dropout=dropout,
                seed=seed + i,
                segmentation=segmentation,
            )
            for i, text in enumerate(texts)
        ]
        offsets = np.zeros(len(lists) + 1, np.int64)
        np.cumsum([len(ids) for ids in lists], out=offsets[1:])
        return np.concatenate([np.zeros(0, np.uint32), *lists]), offsets

    def _takes_whole(self, texts: list[str]) -> bool:
        """Whether the native encoder may cut these texts by itself."""
        return self.pretokenizer.is_native

    def count_tokens(self, text: str, *, allowed_special: AllowedSpecial = ()) -> int:
        """How many tokens a text encodes to."""
        return len(self.encode_to_numpy(text, allowed_special=allowed_special))

    def encode_with_offsets(
        self, text: str, *, unit: Literal["characters", "bytes"] = "characters"
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Encode a text and say which part of it each token covers.

        A token may begin or end inside a character; it then covers all of that character, so the
        spans of two neighbours may overlap. Spans in bytes of the UTF-8 text never do.

        >>> import prunedbpe
        >>> tok = prunedbpe.train(["ab ab"], vocab_size=261, threshold=0)
        >>> tok.encode_with_offsets("ab é")
        ([256, 32, 195, 169], [(0, 2), (2, 3), (3, 4), (3, 4)])
        """
        ids = self.encode_to_numpy(text)
        ends = np.cumsum(self._byte_lengths[ids])
        begins = ends - self._byte_lengths[ids]
        if unit == "characters":
            # Place of the character each byte belongs to: one less than the starts up to there.
            data = np.frombuffer(text.encode(), np.uint8)
            place = np.cumsum((data & 0xC0) != 0x80) - 1
            begins, ends = place[begins], place[ends - 1] + 1
        return ids.tolist(), list(zip(begins.tolist(), ends.tolist(), strict=True))

    # Decoding

    def decode_bytes(self, ids: TokenIds) -> bytes:
        """The bytes that token ids spell.

        Raises:
            PrunedBPEError: An id is not in the vocabulary; internal tokens have none a model sees.
        """
        spelled: bytes
        try:
            if isinstance(ids, np.ndarray):
                spelled = self._decoder.decode_array(_as_uint32(cast("AnyArray", ids)))
            else:
                spelled = self._decoder.decode(ids)
        except (IndexError, TypeError) as error:
            raise _no_ids(error) from None
        return spelled

    def decode(self, ids: TokenIds, *, errors: str = "replace") -> str:
        """The text that token ids spell.

        Args:
            ids: Visible token ids.
            errors: What becomes of bytes that are not UTF-8, as in :meth:`bytes.decode`:
                ``replace`` by U+FFFD, ``strict`` raises, ``ignore``, ``backslashreplace``.
        """
        try:
            if isinstance(ids, np.ndarray):
                text = self._decoder.decode_array_text(_as_uint32(cast("AnyArray", ids)), errors)
            else:
                text = self._decoder.decode_text(ids, errors)
        except (IndexError, TypeError) as error:
            raise _no_ids(error) from None
        return text

    def decode_batch(self, batch: Iterable[TokenIds], *, errors: str = "replace") -> list[str]:
        """Decode many lists of ids."""
        return [self.decode(ids, errors=errors) for ids in batch]

    def streaming_decoder(self) -> StreamingDecoder:
        """A decoder that takes ids as they come and never splits a character."""
        return StreamingDecoder(self.vocabulary.bytes_by_id[: self.vocab_size])

    # The vocabulary, token by token

    @property
    def vocab_size(self) -> int:
        """All a model sees: bytes, visible learned tokens and special tokens."""
        return self.vocabulary.vocab_size

    @property
    def special_tokens(self) -> dict[str, TokenId]:
        """Token id of each special token."""
        return self.vocabulary.special_ids

    def vocab_bytes(self) -> list[bytes]:
        """What every visible token id spells, in order of id."""
        return self.vocabulary.bytes_by_id[: self.vocab_size]

    def token_bytes(self, token_id: int) -> bytes:
        """What one token id spells; internal tokens have ids from ``vocab_size`` on."""
        return self.vocabulary.bytes_by_id[self._check_id(token_id)]

    def is_visible(self, token_id: int) -> bool:
        """Whether a model sees the token."""
        return self._check_id(token_id) < self.vocab_size

    def rank(self, token_id: int) -> Rank | None:
        """Training rank of a token; ``None`` for a special token."""
        rank = int(self.vocabulary.ranks_by_id[self._check_id(token_id)])
        return Rank(rank) if rank >= 0 else None

    def children(self, token_id: int) -> tuple[TokenId, TokenId] | None:
        """Token ids of the two parts of a learned token; ``None`` for bytes and special tokens."""
        rank = self.rank(token_id)
        if rank is None or rank < 256:
            return None
        left, right = self.vocabulary.token_ids[self.vocabulary.pairs[rank - 256]].tolist()
        return TokenId(left), TokenId(right)

    def expansion(self, token_id: int) -> list[int]:
        """Visible token ids that stand for a token: itself, unless it is internal."""
        rank = self.rank(token_id)
        return [token_id] if rank is None else self.vocabulary.expansion(rank)

    def _check_id(self, token_id: int) -> int:
        count = len(self.vocabulary.ranks_by_id)
        if not 0 <= token_id < count:
            raise PrunedBPEError(
                f"token id {token_id} does not exist",
                hint=f"visible ids are 0-{self.vocab_size - 1}, internal ones up to {count - 1}",
            )
        return token_id

    # Parts made when first needed: training and pruning save tokenizers that never encode.

    @cached_property
    def _encoder(self) -> _core.Encoder:
        return _core.Encoder(
            self.vocabulary.pairs,
            *self.vocabulary.expansion_columns,
            self.pretokenizer.name if self.pretokenizer.is_native else "",
        )

    @cached_property
    def _byte_lengths(self) -> Int64Array:
        return np.array([len(string) for string in self.vocab_bytes()], np.int64)

    @cached_property
    def _shortest(self) -> ShortestSegmenter:
        from prunedbpe.tokenizer.shortest import (
            ShortestSegmenter,  # few need it, and it needs counting
        )

        return ShortestSegmenter.of(self.vocabulary, self.pretokenizer)

    @cached_property
    def _decoder(self) -> _core.Decoder:
        strings = self.vocab_bytes()
        offsets = np.cumsum([0, *map(len, strings)], dtype=np.int64)
        return _core.Decoder(np.frombuffer(b"".join(strings), np.uint8), offsets)

    def _allowed(self, allowed_special: AllowedSpecial) -> tuple[str, ...]:
        known = self.vocabulary.special_tokens
        if allowed_special == "all":
            return known
        if isinstance(allowed_special, str):
            allowed_special = [allowed_special]
        for text in allowed_special:
            if text not in known:
                raise SettingsError(
                    f"{text!r} is no special token", hint=f"there are {', '.join(known) or 'none'}"
                )
        return tuple(sorted(allowed_special))


def _as_uint32(ids: AnyArray) -> UInt32Array:
    """The ids as native code takes them; a number that is no id must not become one."""
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise SettingsError(
            f"token ids are a flat list of whole numbers, not {ids.ndim}-dimensional of type "
            f"{ids.dtype}"
        )
    if ids.dtype != np.uint32:
        outside = np.flatnonzero((ids < 0) | (ids > 0xFFFFFFFF))
        if len(outside):
            raise IndexError(f"token id {ids[outside[0]]} at place {outside[0]} cannot be one")
    return np.ascontiguousarray(ids, np.uint32)


def _no_ids(error: IndexError | TypeError) -> PrunedBPEError:
    if isinstance(error, TypeError):
        return SettingsError(f"token ids are a flat list of whole numbers: {error}")
    return PrunedBPEError(
        f"cannot decode: {error}", hint="was the text encoded with another tokenizer?"
    )
