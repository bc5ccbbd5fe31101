"""A tokenizer for transformers (extra ``transformers``).

``import prunedbpe.integrations.transformers`` registers :class:`PrunedBPETokenizer` with
``AutoTokenizer``. A saved folder has ``vocab.txt``, ``inter_vocab.txt``, ``prunedbpe.json`` and
``tokenizer_config.json``. It has no ``tokenizer.json`` on purpose: a stock class would load that
file and silently encode wrong ids.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from prunedbpe.errors import MissingExtraError, SettingsError
from prunedbpe.exchange.byte_alphabet import from_byte_alphabet, to_byte_alphabet
from prunedbpe.exchange.special_roles import usual_roles
from prunedbpe.integrations.marked_chats import encode_marked_chats
from prunedbpe.integrations.segments import Segment, cut_at_added_tokens
from prunedbpe.integrations.text_encoding import EncodedText, TextEncoding
from prunedbpe.integrations.token_spans import Span, locate_tokens
from prunedbpe.tokenizer import Tokenizer

try:
    from transformers import AutoTokenizer, BatchEncoding, PreTrainedConfig, PreTrainedTokenizer
    from transformers.utils import PaddingStrategy
except ImportError as error:
    raise MissingExtraError("transformers", "transformers", "PrunedBPETokenizer") from error

REMOTE_MODULE = "tokenization_prunedbpe"
_REMOTE_CODE = '''"""Find the tokenizer class in the installed package prunedbpe."""

from prunedbpe.integrations.transformers import PrunedBPETokenizer

__all__ = ["PrunedBPETokenizer"]
'''


class PrunedBPETokenizer(PreTrainedTokenizer):
    """A :class:`~prunedbpe.tokenizer.Tokenizer` with the interface of transformers.

    Args:
        vocab_file: ``vocab.txt`` of a saved tokenizer.
        internal_vocab_file: ``inter_vocab.txt`` of the same folder.
        settings_file: ``prunedbpe.json`` of the same folder.
        tokenizer: A tokenizer, instead of files.
        special_tokens_pattern: The special tokens that ``add_special_tokens`` adds: ``"none"``,
            ``"bos"``, ``"eos"``, ``"bos_eos"``, ``"cls_sep"``.
        **kwargs: Arguments of ``PreTrainedTokenizer``: ``eos_token``, ``model_max_length``, ...
    """

    vocab_files_names = {  # noqa: RUF012 (declared by the base class)
        "vocab_file": "vocab.txt",
        "internal_vocab_file": "inter_vocab.txt",
        "settings_file": "prunedbpe.json",
    }
    model_input_names = ["input_ids", "attention_mask"]  # noqa: RUF012
    _auto_map = {"AutoTokenizer": [f"{REMOTE_MODULE}.PrunedBPETokenizer", None]}  # noqa: RUF012

    def __init__(
        self,
        vocab_file: str | None = None,
        internal_vocab_file: str | None = None,
        settings_file: str | None = None,
        *,
        tokenizer: Tokenizer | None = None,
        special_tokens_pattern: str = "none",
        **kwargs: Any,
    ) -> None:
        if tokenizer is None:
            if settings_file is None:
                raise SettingsError(
                    "no tokenizer given",
                    hint="use from_pretrained(folder), or pass tokenizer=Tokenizer.load(folder)",
                )
            tokenizer = Tokenizer.load(Path(settings_file).parent)
        self._tok = tokenizer
        self._prepare()
        for token_id, token in (kwargs.get("added_tokens_decoder") or {}).items():
            self._make_room(str(token), int(token_id))
        kwargs.setdefault("clean_up_tokenization_spaces", False)
        kwargs.pop("auto_map", None)
        known = tokenizer.special_tokens
        for role, usual in usual_roles(known).items():
            kwargs.setdefault(role, usual)
        named = {str(kwargs.get(role)) for role in (*self.SPECIAL_TOKENS_ATTRIBUTES,)}
        extra = [str(token) for token in kwargs.get("extra_special_tokens") or ()]
        extra += [name for name in known if name not in named and name not in extra]
        if extra:
            kwargs["extra_special_tokens"] = extra
        super().__init__(special_tokens_pattern=special_tokens_pattern, **kwargs)
        self.init_kwargs["special_tokens_pattern"] = special_tokens_pattern

    def _prepare(self) -> None:
        """Name every token. The names follow from the tokenizer alone and are not pickled."""
        special = {int(token_id): text for text, token_id in self._tok.special_tokens.items()}
        self._names: list[str] = []
        for token_id, spelled in enumerate(self._tok.vocab_bytes()):
            name = special.get(token_id) or to_byte_alphabet(spelled)
            if not spelled:
                name = f"<unused id {token_id}>"
            elif token_id not in special and name in self._tok.special_tokens:
                name += " (learned)"  # unique: no other name holds a space
            self._names.append(name)
        self._base_vocab = {name: token_id for token_id, name in enumerate(self._names)}

    def _make_room(self, text: str, token_id: int | None = None) -> None:
        """Rename a token whose name in the byte alphabet is the text of an added token.

        The byte E9 has the name ``é``. An added token ``é`` is a different token, but without this
        the base class would confuse the two.
        """
        holder = self._base_vocab.get(text)
        if holder is None or holder == token_id:
            return
        if self._tok.vocabulary.bytes_by_id[holder] != text.encode():
            del self._base_vocab[text]
            self._names[holder] = f"{text} (bytes)"
            self._base_vocab[self._names[holder]] = holder

    def _add_tokens(self, new_tokens: Any, special_tokens: bool = False) -> int:
        for token in new_tokens or ():
            self._make_room(str(token))
        added: int = super()._add_tokens(new_tokens, special_tokens)
        return added

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer, **kwargs: Any) -> PrunedBPETokenizer:
        """Wrap a tokenizer."""
        return cls(tokenizer=tokenizer, **kwargs)

    @property
    def tokenizer(self) -> Tokenizer:
        """The wrapped tokenizer."""
        return self._tok

    # Pickles omit derived and unordered state: datasets hashes them to find its caches.

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        for name in ("_names", "_base_vocab", "tokens_trie"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        from transformers.tokenization_python import Trie

        self.tokens_trie = Trie()
        self._prepare()
        for token_id, token in self._added_tokens_decoder.items():
            self._make_room(str(token), token_id)
        self._update_trie()

    # Vocabulary

    @property
    def vocab_size(self) -> int:
        """Number of tokens of the tokenizer, special ones included, without later additions."""
        return self._tok.vocab_size

    def get_vocab(self) -> dict[str, int]:
        """Return the id of every token, later additions included."""
        return {**self._base_vocab, **self._added_tokens_encoder}

    def _convert_token_to_id(self, token: str) -> int | None:
        return self._base_vocab.get(token, self.unk_token_id)

    def _convert_id_to_token(self, index: int) -> str | None:
        return self._names[index] if 0 <= index < len(self._names) else None

    def save_vocabulary(
        self, save_directory: str, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Write the tokenizer's files, and the module that ``trust_remote_code`` loads."""
        if filename_prefix:
            raise SettingsError(
                "filename_prefix is not supported", hint="use one folder per tokenizer"
            )
        self._tok.save(save_directory)
        module = Path(save_directory, f"{REMOTE_MODULE}.py")
        module.write_text(_REMOTE_CODE, "utf-8")
        files = [os.path.join(save_directory, name) for name in self.vocab_files_names.values()]  # noqa: PTH118
        return (*files, str(module))

    # Encoding

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        return [self._names[i] for i in self._tok.encode(text, surrogates="replace")]

    def _encode_plus(
        self,
        text: Any,
        text_pair: Any = None,
        add_special_tokens: bool = True,
        padding_strategy: PaddingStrategy = PaddingStrategy.DO_NOT_PAD,
        truncation_strategy: Any = "do_not_truncate",
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: Any = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        verbose: bool = True,
        split_special_tokens: bool | None = None,
        **kwargs: Any,
    ) -> BatchEncoding:
        """Encode as the base class does, with offsets and words, and a batch in one native call."""
        if kwargs.get("sanitize_control_tokens"):
            text = encode_marked_chats(self, text)
        is_batched, rows = _rows(text, text_pair, is_split_into_words)
        if split_special_tokens is None:
            split_special_tokens = self.split_special_tokens
        texts = iter(
            self._encode_texts(
                [part for row in rows for part in row], is_split_into_words, split_special_tokens
            )
        )
        strategy = getattr(truncation_strategy, "value", truncation_strategy)
        data: dict[str, list[Any]] = {}
        encodings = []
        for row in rows:
            encoding, extras = self._assemble(
                [next(texts) for _ in row], add_special_tokens, strategy, max_length, stride
            )
            if return_overflowing_tokens and strategy == "longest_first" and len(row) == 2:
                raise ValueError(
                    "overflowing tokens of a pair cannot be returned with 'longest_first'; "
                    "use 'only_first' or 'only_second'"
                )
            encodings.append(encoding)
            data.setdefault("input_ids", []).append(encoding.ids)
            if return_token_type_ids or (
                return_token_type_ids is None and "token_type_ids" in self.model_input_names
            ):
                data.setdefault("token_type_ids", []).append(encoding.type_ids)
            if return_special_tokens_mask:
                mask = [int(source is None) for source in encoding.sources]
                data.setdefault("special_tokens_mask", []).append(mask)
            if return_overflowing_tokens and not return_tensors:
                data.setdefault("overflowing_tokens", []).append(extras[0])
                data.setdefault("num_truncated_tokens", []).append(extras[1])
            self._eventual_warn_about_too_long_sequence(encoding.ids, max_length, verbose)
        if return_attention_mask is None:
            return_attention_mask = "attention_mask" in self.model_input_names
        padded = self._pad_rows(
            data, encodings, padding_strategy, max_length, pad_to_multiple_of, padding_side,
            return_attention_mask,
        )  # fmt: skip
        if return_offsets_mapping:
            padded["offset_mapping"] = [encoding.offsets for encoding in encodings]
        if return_length:
            padded["length"] = [len(ids) for ids in padded.get("input_ids", [])]
        if not is_batched and not return_tensors:
            padded = {key: value[0] for key, value in padded.items()}
        return BatchEncoding(padded, encodings, tensor_type=return_tensors)

    def _pad_rows(
        self,
        data: dict[str, list[Any]],
        encodings: list[TextEncoding],
        strategy: PaddingStrategy,
        max_length: int | None,
        multiple: int | None,
        side: str | None,
        return_attention_mask: bool,
    ) -> dict[str, Any]:
        if not encodings:
            empty: dict[str, Any] = {"input_ids": []}
            return {**empty, "attention_mask": []} if return_attention_mask else empty
        padded = self.pad(
            data,
            padding=strategy.value,
            max_length=max_length,
            pad_to_multiple_of=multiple,
            padding_side=side,
            return_attention_mask=return_attention_mask,
        )
        for encoding, ids in zip(encodings, padded["input_ids"], strict=True):
            if len(ids) > len(encoding):
                encoding.pad(len(ids), side or self.padding_side, self.pad_token_id or 0)
        return dict(padded)

    def _assemble(
        self,
        sequences: list[EncodedText],
        add_special_tokens: bool,
        strategy: str,
        max_length: int | None,
        stride: int,
    ) -> tuple[TextEncoding, tuple[list[int], int]]:
        """Truncate the texts of a row and add special tokens, keeping the place of every token."""
        first = list(range(len(sequences[0].ids)))
        second = list(range(len(sequences[1].ids))) if len(sequences) == 2 else None
        added = self.num_special_tokens_to_add(second is not None) if add_special_tokens else 0
        surplus = len(first) + len(second or ()) + added - (max_length or 0)
        overflowing: list[int] = []
        if strategy != "do_not_truncate" and max_length and surplus > 0:
            which = 1 if strategy == "only_second" else 0
            first, second, places = self.truncate_sequences(
                first, second, surplus, strategy, stride
            )
            overflowing = [sequences[which].ids[place] for place in places]
        else:
            surplus = 0
        sources: list[tuple[int, int] | None] = [(0, place) for place in first]
        sources += [(1, place) for place in second or ()]
        ids = [sequences[source[0]].ids[source[1]] for source in sources if source]
        type_ids = [0] * len(ids)
        if add_special_tokens:
            # Pass tokens as negative codes, to tell them from the special tokens in the result.
            codes = [-1 - i for i in range(len(ids))]
            pair = codes[len(first) :] if second is not None else None
            built = self.build_inputs_with_special_tokens(codes[: len(first)], pair)
            type_ids = self.create_token_type_ids_from_sequences(codes[: len(first)], pair)
            sources = [sources[-1 - code] if code < 0 else None for code in built]
            ids = [ids[-1 - code] if code < 0 else code for code in built]
        encoding = TextEncoding(ids, sources, sequences, self.convert_ids_to_tokens, type_ids)
        return encoding, (overflowing, surplus)

    def _encode_texts(
        self, inputs: Sequence[Any], is_split_into_words: bool, split_special_tokens: bool
    ) -> list[EncodedText]:
        """Encode texts, lists of words or lists of ids, all ordinary text in one native call."""
        plans: list[tuple[list[str], list[list[Segment]]] | list[int]] = []
        ordinary: list[str] = []
        for given in inputs:
            if (
                not isinstance(given, str)
                and len(given)
                and isinstance(given[0], (int, np.integer))
            ):
                plans.append([int(token_id) for token_id in given])
                continue
            if isinstance(given, str):
                words = [given]
            elif is_split_into_words or not len(given):
                words = [str(word) for word in given]
            else:
                plans.append(self.convert_tokens_to_ids(list(given)))
                continue
            words = [_without_surrogates(word) for word in words]
            cuts = [self._segments(word, split_special_tokens) for word in words]
            for word, segments in zip(words, cuts, strict=True):
                ordinary += [word[s.begin : s.end] for s in segments if s.token_id is None]
            plans.append((words, cuts))
        flat, offsets = self._tok.encode_batch_to_numpy(ordinary, surrogates="replace")
        parts = (flat[begin:end].tolist() for begin, end in pairwise(offsets.tolist()))
        encoded = []
        for plan in plans:
            if isinstance(plan, list):
                encoded.append(EncodedText(plan, partial(_nowhere, len(plan))))
                continue
            ids: list[int] = []
            for segment in (segment for segments in plan[1] for segment in segments):
                ids += next(parts) if segment.token_id is None else [segment.token_id]
            locate = partial(locate_tokens, self._tok, *plan, is_split_into_words)
            encoded.append(EncodedText(ids, locate))
        return encoded

    def _segments(self, text: str, split_special_tokens: bool) -> list[Segment]:
        if split_special_tokens:
            return [Segment(0, len(text))] if text else []
        parts = self.tokens_trie.split(text)
        return cut_at_added_tokens(parts, self._added_tokens_encoder, self._added_tokens_decoder)

    # Decoding

    def _decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> str:
        ids = [token_ids] if isinstance(token_ids, int) else [int(i) for i in token_ids]
        special = set(self.all_special_ids) if skip_special_tokens else set()
        parts = []
        known = self._tok.vocabulary.bytes_by_id
        for token_id in ids:
            if token_id in special:
                continue
            if token_id in self._added_tokens_decoder:
                parts.append(self._added_tokens_decoder[token_id].content.encode())
            elif 0 <= token_id < self._tok.vocab_size:
                parts.append(known[token_id])
            # An embedding may have more rows than the vocabulary; those ids spell nothing.
        text = b"".join(parts).decode("utf-8", "replace")
        if clean_up_tokenization_spaces:
            text = self.clean_up_tokenization(text)
        return text

    def convert_tokens_to_string(self, tokens: Iterable[str]) -> str:
        """Return the text of tokens given as strings."""
        parts = []
        for token in tokens:
            token_id = self._base_vocab.get(token)
            if token_id is not None:
                parts.append(self._tok.vocabulary.bytes_by_id[token_id])
            else:
                spelled = None if token in self._added_tokens_encoder else from_byte_alphabet(token)
                parts.append(token.encode() if spelled is None else spelled)
        return b"".join(parts).decode("utf-8", "replace")


def _rows(text: Any, text_pair: Any, is_split_into_words: bool) -> tuple[bool, list[list[Any]]]:
    """Return whether a call is a batch, and the one or two texts of each row."""
    is_batched = isinstance(text, (list, tuple)) and (
        (not text and not is_split_into_words)
        or (len(text) > 0 and is_split_into_words and isinstance(text[0], (list, tuple)))
        or (len(text) > 0 and not is_split_into_words and isinstance(text[0], (str, list, tuple)))
    )
    if not is_batched:
        if not isinstance(text, (str, list, tuple)):
            raise ValueError(f"text must be a string, a list of words or of ids, not {type(text)}")
        return False, [[text] if text_pair is None else [text, text_pair]]
    if text_pair is not None:
        if not isinstance(text_pair, (list, tuple)) or len(text_pair) != len(text):
            raise ValueError("text_pair must be a batch as long as text")
        return True, [list(pair) for pair in zip(text, text_pair, strict=True)]
    rows = []
    for entry in text:
        is_pair = (
            isinstance(entry, (list, tuple))
            and len(entry) == 2
            and (not is_split_into_words or isinstance(entry, tuple))
            and all(isinstance(part, (str, list, tuple)) for part in entry)
        )
        rows.append(list(entry) if is_pair else [entry])
    return True, rows


def _nowhere(count: int) -> tuple[list[Span], list[int]]:
    return [(0, 0)] * count, list(range(count))


def _without_surrogates(text: str) -> str:
    """Repair a text as the encoder does, so that offsets and ids refer to the same text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class PrunedBPEConfig(PreTrainedConfig):
    """A config for ``AutoTokenizer.register``, which requires one."""

    model_type = "prunedbpe"


AutoTokenizer.register(PrunedBPEConfig, slow_tokenizer_class=PrunedBPETokenizer, exist_ok=True)
