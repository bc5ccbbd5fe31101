"""The tokenizer: text -> token ids and back. Immutable, thread-safe, native underneath.

Encoding cuts text into chunks and each chunk into visible tokens. The segmentation decides how:
``rank`` merges by rank with all retained merges and expands internal tokens, ``shortest`` takes the
fewest visible tokens. Text that looks like a special token is ordinary text unless allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from prunedbpe import _core
from prunedbpe._support.arguments import (
    check_names,
    check_text,
    check_type,
    to_path,
    to_texts,
    to_whole_number,
    wrong_type,
)
from prunedbpe._support.commit import read_together
from prunedbpe._support.signatures import takes_options
from prunedbpe._support.threads import thread_count
from prunedbpe.errors import PrunedBPEError, SettingsError
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer
from prunedbpe.tokenizer.encode_options import (
    SEED_MASK,
    EncodeOptions,
    EncodePlan,
    with_repair,
)
from prunedbpe.tokenizer.folder import (
    IMPORTED_FORMAT,
    TOKENIZER_FILES,
    read_settings,
    read_tokenizer,
    write_tokenizer,
)
from prunedbpe.tokenizer.huggingface_names import HuggingFaceMethods
from prunedbpe.tokenizer.id_arguments import TokenIds, as_uint32, not_ids
from prunedbpe.tokenizer.shortest import ShortestSegmenter
from prunedbpe.tokenizer.special_tokens import check_allowed, refuse_special_text, special_pattern
from prunedbpe.tokenizer.streaming import StreamingDecoder
from prunedbpe.tokenizer.tokenizer_view import view_tokenizer
from prunedbpe.types import (
    ByteArray,
    Int64Array,
    Rank,
    Segmentation,
    Settings,
    TokenId,
    UInt32Array,
    check_segmentation,
)
from prunedbpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Tokenizer(HuggingFaceMethods):
    """Encodes and decodes with one vocabulary and one pretokenizer.

    Args:
        vocabulary: Merges, visibility and special tokens.
        pretokenizer: What cuts text before merging: the one of the training.
        training: How the vocabulary came about, saved with it.
        segmentation: How a chunk is cut into visible tokens, saved with it: ``"rank"`` merges by
            rank, then expands internal tokens; ``"shortest"`` takes the fewest visible tokens.
            Among segmentations of equal length, the last token is as long as possible, then the
            one before it, and so on.

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
        segmentation: Segmentation = "rank",
    ) -> None:
        check_type("vocabulary", vocabulary, Vocabulary, "to load a tokenizer use Tokenizer.load")
        self.vocabulary = vocabulary
        self.pretokenizer = find_pretokenizer(pretokenizer)
        self.training: Settings = dict(training or {})
        self.segmentation = check_segmentation(segmentation)
        self._default_plan = EncodePlan(segmentation=self.segmentation)
        # Chunks that are one token, whatever the merges make of them; in imported tokenizers only.
        self._whole_chunk_ids: dict[bytes, int] = {}
        # Whether the native encoder may cut any text by itself.
        self._is_native = self.pretokenizer.is_native and not self.pretokenizer.normalization

    def __repr__(self) -> str:
        shortest = ", segmentation='shortest'" if self.segmentation == "shortest" else ""
        return (
            f"Tokenizer(vocab_size={self.vocab_size}, internal={self.vocabulary.internal_count}, "
            f"pretokenizer={self.pretokenizer.name!r}{shortest})"
        )

    def _repr_html_(self) -> str:
        return view_tokenizer(self)

    def __reduce__(self) -> tuple[Any, Any]:
        state = (self.vocabulary, self.pretokenizer, self.training, self.segmentation)
        return type(self), state

    # Files

    def save(self, folder: str | Path) -> None:
        """Write ``vocab.txt``, ``inter_vocab.txt`` and ``prunedbpe.json`` into a folder."""
        write_tokenizer(
            to_path(folder), self.vocabulary, self.pretokenizer, self.training, self.segmentation
        )

    @classmethod
    def load(cls, folder: str | Path) -> Tokenizer:
        """Read a folder that :meth:`save` wrote, and check every line of it.

        Raises:
            FormatError: A file is missing or wrong; the message names the file and the line.
        """
        folder = to_path(folder)
        return read_together(folder, TOKENIZER_FILES, lambda: cls._load(folder))

    @classmethod
    def _load(cls, folder: Path) -> Tokenizer:
        settings = read_settings(folder)
        if settings["format"] == IMPORTED_FORMAT:
            from prunedbpe.tokenizer.imported import ImportedTokenizer

            return ImportedTokenizer._load(folder)
        tokenizer = cls(*read_tokenizer(folder, settings))
        # Build it now, so that the first call is as fast as the others.
        _ = tokenizer._encoder if tokenizer.segmentation == "rank" else tokenizer._shortest
        return tokenizer

    # Encoding

    @takes_options(EncodePlan, segmentation=None)
    def encode(self, text: str, **options: Unpack[EncodeOptions]) -> list[int]:
        """Encode a text as visible token ids.

        Args:
            text: Any text.
            allowed_special: Special tokens whose text stands for them, ``"all"`` or by name; the
                text of any other is ordinary text.
            disallowed_special: Special tokens whose text is refused; ``"all"`` means all that are
                not allowed.
            surrogates: A lone surrogate has no UTF-8: ``"strict"`` makes it an error,
                ``"replace"`` makes it U+FFFD.
            dropout: BPE-dropout, the probability of leaving out each possible merge.
            seed: Which of the segmentations dropout gives.
            segmentation: ``"rank"`` or ``"shortest"`` instead of the tokenizer's own. A model
                expects the tokenizer's own.
        """
        if not options and self._is_native:
            try:
                if self.segmentation == "rank":
                    return self._encoder.encode(text)
                return self._shortest.native.encode(text)
            except (UnicodeEncodeError, TypeError):
                pass  # the general way names the surrogate, or the wrong type
        ids: list[int] = self.encode_to_numpy(text, **options).tolist()
        return ids

    @takes_options(EncodePlan, segmentation=None)
    def encode_to_numpy(self, text: str, **options: Unpack[EncodeOptions]) -> UInt32Array:
        """As :meth:`encode`, the ids as a ``uint32`` array."""
        plan = self._plan(options)
        self._refuse_special([text], plan)
        return with_repair(lambda texts: self._encode(texts[0], plan, 0), [text], plan.surrogates)

    @takes_options(EncodePlan, segmentation=None)
    def encode_batch(
        self, texts: Iterable[str], *, threads: int | None = None, **options: Unpack[EncodeOptions]
    ) -> list[list[int]]:
        """Encode many texts on many threads; as :meth:`encode` of each, with ``seed + i``."""
        texts, plan = to_texts(texts), self._plan(options)
        if plan.segmentation == "rank" and self._takes_batch(texts, plan):
            self._refuse_special(texts, plan)
            native = plan.dropout, plan.seed & SEED_MASK, thread_count(threads)
            return with_repair(
                lambda texts: self._encoder.encode_batch_to_lists(texts, *native),
                texts,
                plan.surrogates,
            )
        ids, offsets = self.encode_batch_to_numpy(texts, threads=threads, **options)
        flat: list[int] = ids.tolist()
        return [flat[begin:end] for begin, end in pairwise(offsets.tolist())]

    @takes_options(EncodePlan, segmentation=None)
    def encode_batch_to_numpy(
        self, texts: Iterable[str], *, threads: int | None = None, **options: Unpack[EncodeOptions]
    ) -> tuple[UInt32Array, Int64Array]:
        """As :meth:`encode_batch`, flat: text ``i`` has ``ids[offsets[i]:offsets[i + 1]]``."""
        texts, plan, workers = to_texts(texts), self._plan(options), thread_count(threads)
        self._refuse_special(texts, plan)
        if self._takes_batch(texts, plan):
            if plan.segmentation == "shortest":
                return with_repair(
                    lambda texts: self._shortest.encode_batch(texts, threads=workers),
                    texts,
                    plan.surrogates,
                )
            native = plan.dropout, plan.seed & SEED_MASK, workers
            return with_repair(
                lambda texts: self._encoder.encode_batch(texts, *native), texts, plan.surrogates
            )
        lists = [
            with_repair(lambda one: self._encode(one[0], plan, i), [text], plan.surrogates)  # noqa: B023
            for i, text in enumerate(texts)
        ]
        offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        return np.concatenate([np.zeros(0, np.uint32), *lists]), offsets

    @takes_options(EncodePlan, segmentation=None)
    def encode_documents(
        self,
        data: ByteArray,
        spans: Int64Array,
        *,
        threads: int | None = None,
        **options: Unpack[EncodeOptions],
    ) -> tuple[UInt32Array, Int64Array]:
        """Encode documents that lie in memory as UTF-8, as a corpus reads them.

        Args:
            data: The bytes.
            spans: One row ``begin, end`` into ``data`` for each document; each is valid UTF-8.
            threads: One per core by default.
            **options: As for :meth:`encode`.

        Returns:
            Flat ids and offsets, as :meth:`encode_batch_to_numpy`.
        """
        plan = self._plan(options)
        if plan.is_ordinary and self._is_native:
            by_rank = plan.segmentation == "rank"
            encoder = self._encoder if by_rank else self._shortest.native
            return encoder.encode_documents(data, spans, thread_count(threads))
        text = data.tobytes()
        texts = [text[begin:end].decode() for begin, end in spans.tolist()]
        return self.encode_batch_to_numpy(texts, threads=threads, **options)

    @takes_options(EncodePlan, segmentation=None)
    def count_tokens(self, text: str, **options: Unpack[EncodeOptions]) -> int:
        """How many tokens a text encodes to."""
        return len(self.encode_to_numpy(text, **options))

    def encode_with_offsets(
        self, text: str, *, unit: Literal["characters", "bytes"] = "characters"
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Encode a text and return which part of it each token covers.

        A token may begin or end inside a character. It then covers all of that character, so the
        spans of two neighbours may overlap. Spans in bytes of the UTF-8 text never do.

        Raises:
            SettingsError: The tokenizer normalizes this text, so its tokens have no place in it.

        >>> import prunedbpe
        >>> tok = prunedbpe.train(["ab ab"], vocab_size=261, threshold=0)
        >>> tok.encode_with_offsets("ab é")
        ([256, 32, 195, 169], [(0, 2), (2, 3), (3, 4), (3, 4)])
        """
        check_text(text)
        if unit not in ("characters", "bytes"):
            raise SettingsError(f"unit={unit!r}", hint="use 'characters' or 'bytes'")
        if self._normalize(text) != text:
            raise SettingsError(
                "the tokenizer normalizes this text, so tokens have no offsets in it",
                hint="normalize the text first: unicodedata.normalize('NFC', text)",
            )
        ids = self.encode_to_numpy(text)
        ends = np.cumsum(self._byte_lengths[ids])
        begins = ends - self._byte_lengths[ids]
        if unit == "characters":
            # The character that each byte belongs to: one less than the character starts so far.
            data = np.frombuffer(text.encode(), np.uint8)
            character = np.cumsum((data & 0xC0) != 0x80) - 1
            begins, ends = character[begins], character[ends - 1] + 1
        return ids.tolist(), list(zip(begins.tolist(), ends.tolist(), strict=True))

    def _plan(self, options: EncodeOptions) -> EncodePlan:
        """Complete the options of a call by the tokenizer's own segmentation, and check them."""
        if not options:
            return self._default_plan
        check_names(options, EncodePlan.__dataclass_fields__)
        given: dict[str, Any] = dict(options)
        if given.get("segmentation") is None:
            given["segmentation"] = self.segmentation
        return EncodePlan(**given)

    def _refuse_special(self, texts: list[str], plan: EncodePlan) -> None:
        if plan.disallowed_special:
            for text in texts:
                check_text(text)
                refuse_special_text(
                    text, self.special_tokens, plan.allowed_special, plan.disallowed_special
                )

    def _takes_batch(self, texts: list[str], plan: EncodePlan) -> bool:
        """Whether the native encoder may take all these texts at once."""
        return not plan.allowed_special and self._cuts_natively(texts)

    def _cuts_natively(self, texts: Sequence[str]) -> bool:
        """Whether the native encoder may cut these texts by itself."""
        return self._is_native

    def _encode(self, text: str, plan: EncodePlan, index: int) -> UInt32Array:
        """Encode text ``index`` of a batch, special tokens included."""
        specials: tuple[str, ...] = ()
        if plan.allowed_special:
            specials = check_allowed(plan.allowed_special, self.vocabulary.special_tokens)
        if not specials:
            return self._encode_ordinary(text, plan, plan.seed + index)
        text.encode()  # a surrogate anywhere in the text is repaired before it is split
        parts = []
        # The pattern captures, so special tokens stand at the odd indices.
        for i, part in enumerate(special_pattern(specials).split(text)):
            if i % 2:
                parts.append(np.array([self.vocabulary.special_ids[part]], np.uint32))
            elif part:
                parts.append(self._encode_ordinary(part, plan, plan.seed + index + i))
        return np.concatenate([np.zeros(0, np.uint32), *parts])

    def _encode_ordinary(self, text: str, plan: EncodePlan, seed: int) -> UInt32Array:
        if plan.segmentation == "shortest":
            return self._shortest.encode(text)
        if self._cuts_natively([text]):
            return self._encoder.encode_to_array(text, plan.dropout, seed & SEED_MASK)
        data = np.frombuffer(self._normalize(text).encode(), np.uint8)
        ends = self.pretokenizer.chunk_ends(data)
        return self._encoder.encode_chunks(data, ends, plan.dropout, seed & SEED_MASK)

    def _normalize(self, text: str) -> str:
        return self.pretokenizer.normalize(text)

    # Decoding

    def decode_bytes(self, ids: TokenIds) -> bytes:
        """The bytes that token ids spell.

        Raises:
            PrunedBPEError: An id is not in the vocabulary; internal tokens are not either.
        """
        try:
            if isinstance(ids, np.ndarray):
                return self._decoder.decode_array(as_uint32(ids))
            return self._decoder.decode(ids)
        except (IndexError, TypeError) as error:
            raise not_ids(ids, error) from None

    def decode(self, ids: TokenIds, *, errors: str = "replace") -> str:
        """The text that token ids spell.

        Args:
            ids: Visible token ids.
            errors: What becomes of bytes that are not UTF-8, as in :meth:`bytes.decode`:
                ``replace`` by U+FFFD, ``strict`` raises, ``ignore``, ``backslashreplace``.
        """
        try:
            if isinstance(ids, np.ndarray):
                return self._decoder.decode_array_text(as_uint32(ids), errors)
            return self._decoder.decode_text(ids, errors)
        except (IndexError, TypeError) as error:
            raise not_ids(ids, error) from None

    def decode_batch(self, batch: Iterable[TokenIds], *, errors: str = "replace") -> list[str]:
        """Decode many lists of ids."""
        if not isinstance(batch, Iterable):
            raise wrong_type("a batch is a list of lists of ids", batch)
        return [self.decode(ids, errors=errors) for ids in batch]

    def streaming_decoder(self) -> StreamingDecoder:
        """A decoder that takes ids one by one and never splits a character."""
        return StreamingDecoder(self.vocab_bytes())

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
        if rank is None or self.vocabulary.visible[rank]:
            return [token_id]
        if self.segmentation == "rank":
            return self.vocabulary.expansion(rank)
        data = np.frombuffer(self.vocabulary.strings[rank], np.uint8)
        ids: list[int] = self._shortest.native.encode_chunks(data, np.array([len(data)])).tolist()
        return ids

    def _check_id(self, token_id: int) -> int:
        token_id = to_whole_number("token_id", token_id)
        count = len(self.vocabulary.ranks_by_id)
        if not 0 <= token_id < count:
            raise PrunedBPEError(
                f"token id {token_id} does not exist",
                hint=f"visible ids are 0-{self.vocab_size - 1}, internal ones up to {count - 1}",
            )
        return token_id

    # Built when first needed: training and pruning save tokenizers that never encode.

    @cached_property
    def _encoder(self) -> _core.Encoder:
        return _core.Encoder(
            self.vocabulary.pairs,
            *self.vocabulary.expansions,
            self.pretokenizer.name if self.pretokenizer.is_native else "",
            self._whole_chunk_ids,
        )

    @cached_property
    def _shortest(self) -> ShortestSegmenter:
        return ShortestSegmenter.of(self.vocabulary, self.pretokenizer)

    @cached_property
    def _decoder(self) -> _core.Decoder:
        strings = self.vocab_bytes()
        offsets = np.cumsum([0, *map(len, strings)], dtype=np.int64)
        return _core.Decoder(np.frombuffer(b"".join(strings), np.uint8), offsets)

    @cached_property
    def _byte_lengths(self) -> Int64Array:
        return np.array([len(string) for string in self.vocab_bytes()], np.int64)
