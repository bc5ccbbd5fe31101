"""What a call of a tokenizer for transformers may be given: texts, pairs, words, ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prunedbpe.integrations.token_spans import LocatedTokens


@dataclass(frozen=True)
class CallOptions:
    """The options of a call, as ``_encode_plus`` of transformers gets them; see its documentation.

    The strategies are strings here, and nothing that has a default of the tokenizer is ``None``.
    """

    padding_side: str
    split_special_tokens: bool
    return_token_type_ids: bool
    return_attention_mask: bool
    padding_strategy: str = "do_not_pad"
    truncation_strategy: str = "do_not_truncate"
    add_special_tokens: bool = True
    max_length: int | None = None
    stride: int = 0
    is_split_into_words: bool = False
    pad_to_multiple_of: int | None = None
    return_tensors: Any = None
    return_overflowing_tokens: bool = False
    return_special_tokens_mask: bool = False
    return_offsets_mapping: bool = False
    return_length: bool = False
    verbose: bool = True
    sanitize_control_tokens: bool = False

    @classmethod
    def of(cls, tokenizer: Any, given: Mapping[str, Any]) -> CallOptions:
        """Complete the options by the tokenizer's own; unknown ones are for subclasses."""
        names = tokenizer.model_input_names
        defaults = {
            "padding_side": tokenizer.padding_side,
            "split_special_tokens": tokenizer.split_special_tokens,
            "return_token_type_ids": "token_type_ids" in names,
            "return_attention_mask": "attention_mask" in names,
        }
        known = {key: given[key] for key in given if key in cls.__dataclass_fields__}
        for key, default in defaults.items():
            if known.get(key) is None:
                known[key] = default
        for key in ("padding_strategy", "truncation_strategy"):
            if key in known:
                known[key] = getattr(known[key], "value", known[key])
        return cls(**known)


def rows_of(text: Any, text_pair: Any, is_split_into_words: bool) -> tuple[bool, list[list[Any]]]:
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


def nowhere(count: int) -> LocatedTokens:
    """Return where ids are that come from no text."""
    return LocatedTokens([(0, 0)] * count, list(range(count)), [(0, 0)] * count)


def without_surrogates(text: str) -> str:
    """Repair a text as the encoder does, so that offsets and ids refer to the same text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
