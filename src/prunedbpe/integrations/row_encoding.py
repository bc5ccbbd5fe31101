"""Calls with pairs, words, ids or overflowing tokens: row by row, with the place of every token."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from transformers import BatchEncoding

from prunedbpe.integrations.call_inputs import CallOptions, nowhere, rows_of, without_surrogates
from prunedbpe.integrations.rule_encoding import assemble_by_rules
from prunedbpe.integrations.segments import Segment
from prunedbpe.integrations.text_encoding import EncodedText, TextEncoding
from prunedbpe.integrations.token_spans import locate_tokens

if TYPE_CHECKING:
    from prunedbpe.integrations.transformers import PrunedBPETokenizer


def encode_rows(
    tokenizer: PrunedBPETokenizer, text: Any, text_pair: Any, options: CallOptions
) -> BatchEncoding:
    """Encode as the base class does, with offsets and words; all ordinary text in one call."""
    is_batched, rows = rows_of(text, text_pair, options.is_split_into_words)
    texts = iter(_encode_texts(tokenizer, [part for row in rows for part in row], options))
    data: dict[str, list[Any]] = {}
    encodings = []
    rules = tokenizer.rules
    for number, row in enumerate(rows):
        sequences = [next(texts) for _ in row]
        if (
            options.return_overflowing_tokens
            and options.truncation_strategy == "longest_first"
            and len(row) == 2
        ):
            raise ValueError(  # in the words of transformers, whose tests compare them
                "Not possible to return overflowing tokens for pair of sequences with the "
                "`longest_first`. Please select another truncation strategy than `longest_first`, "
                "for instance `only_second` or `only_first`."
            )
        if rules:
            made = assemble_by_rules(tokenizer, rules, sequences, options)
            if options.return_overflowing_tokens:
                data.setdefault("overflow_to_sample_mapping", []).extend([number] * len(made))
        else:
            encoding, extras = _assemble(tokenizer, sequences, options)
            made = [encoding]
            if options.return_overflowing_tokens and not options.return_tensors:
                data.setdefault("overflowing_tokens", []).append(extras[0])
                data.setdefault("num_truncated_tokens", []).append(extras[1])
        for encoding in made:
            encodings.append(encoding)
            data.setdefault("input_ids", []).append(encoding.ids)
            if options.return_token_type_ids:
                data.setdefault("token_type_ids", []).append(encoding.type_ids)
            if options.return_special_tokens_mask:
                mask = [int(source is None) for source in encoding.sources]
                data.setdefault("special_tokens_mask", []).append(mask)
            tokenizer._eventual_warn_about_too_long_sequence(
                encoding.ids, options.max_length, options.verbose
            )
    padded = _pad_rows(tokenizer, data, encodings, options)
    if options.return_offsets_mapping:
        padded["offset_mapping"] = [encoding.offsets for encoding in encodings]
    if options.return_length:
        padded["length"] = [len(ids) for ids in padded.get("input_ids", [])]
    is_many = is_batched or (rules and options.return_overflowing_tokens)
    if not is_many and not options.return_tensors:
        padded = {key: value[0] for key, value in padded.items()}
    return BatchEncoding(padded, encodings, tensor_type=options.return_tensors)


def _pad_rows(
    tokenizer: PrunedBPETokenizer,
    data: dict[str, list[Any]],
    encodings: list[TextEncoding],
    options: CallOptions,
) -> dict[str, Any]:
    if not encodings:
        empty: dict[str, Any] = {"input_ids": []}
        return {**empty, "attention_mask": []} if options.return_attention_mask else empty
    padded = tokenizer.pad(
        data,
        padding=options.padding_strategy,
        max_length=options.max_length,
        pad_to_multiple_of=options.pad_to_multiple_of,
        padding_side=options.padding_side,
        return_attention_mask=options.return_attention_mask,
    )
    for encoding, ids in zip(encodings, padded["input_ids"], strict=True):
        if len(ids) > len(encoding):
            encoding.pad(len(ids), options.padding_side, tokenizer.pad_token_id or 0)
    return dict(padded)


def _assemble(
    tokenizer: PrunedBPETokenizer, sequences: list[EncodedText], options: CallOptions
) -> tuple[TextEncoding, tuple[list[int], int]]:
    """Truncate the texts of a row and add special tokens, keeping the place of every token."""
    strategy, max_length = options.truncation_strategy, options.max_length
    first = list(range(len(sequences[0].ids)))
    second = list(range(len(sequences[1].ids))) if len(sequences) == 2 else None
    added = (
        tokenizer.num_special_tokens_to_add(second is not None) if options.add_special_tokens else 0
    )
    surplus = len(first) + len(second or ()) + added - (max_length or 0)
    overflowing: list[int] = []
    if strategy != "do_not_truncate" and max_length and surplus > 0:
        which = 1 if strategy == "only_second" else 0
        first, second, places = tokenizer.truncate_sequences(
            first, second, surplus, strategy, options.stride
        )
        overflowing = [sequences[which].ids[place] for place in places]
    else:
        surplus = 0
    sources: list[tuple[int, int] | None] = [(0, place) for place in first]
    sources += [(1, place) for place in second or ()]
    ids = [sequences[source[0]].ids[source[1]] for source in sources if source]
    type_ids = [0] * len(ids)
    if options.add_special_tokens:
        # Pass tokens as negative codes, to tell them from the special tokens in the result.
        codes = [-1 - i for i in range(len(ids))]
        pair = codes[len(first) :] if second is not None else None
        built = tokenizer.build_inputs_with_special_tokens(codes[: len(first)], pair)
        type_ids = tokenizer.create_token_type_ids_from_sequences(codes[: len(first)], pair)
        sources = [sources[-1 - code] if code < 0 else None for code in built]
        ids = [ids[-1 - code] if code < 0 else code for code in built]
    encoding = TextEncoding(ids, sources, sequences, tokenizer.convert_ids_to_tokens, type_ids)
    return encoding, (overflowing, surplus)


def _encode_texts(
    tokenizer: PrunedBPETokenizer, inputs: Sequence[Any], options: CallOptions
) -> list[EncodedText]:
    """Encode texts, lists of words or lists of ids, all ordinary text in one native call."""
    plans: list[tuple[list[str], list[list[Segment]]] | list[int]] = []
    ordinary: list[str] = []
    for given in inputs:
        if not isinstance(given, str) and len(given) and isinstance(given[0], (int, np.integer)):
            plans.append([int(token_id) for token_id in given])
            continue
        if isinstance(given, str):
            words = [given]
        elif options.is_split_into_words or not len(given):
            words = [str(word) for word in given]
        else:
            plans.append(tokenizer.convert_tokens_to_ids(list(given)))
            continue
        words = [without_surrogates(word) for word in words]
        cuts = [_segments(tokenizer, word, options) for word in words]
        for word, segments in zip(words, cuts, strict=True):
            ordinary += [word[s.begin : s.end] for s in segments if s.token_id is None]
        plans.append((words, cuts))
    flat, offsets = tokenizer.tokenizer.encode_batch_to_numpy(ordinary, surrogates="replace")
    parts = (flat[begin:end].tolist() for begin, end in pairwise(offsets.tolist()))
    encoded = []
    for plan in plans:
        if isinstance(plan, list):
            encoded.append(EncodedText(plan, partial(nowhere, len(plan))))
            continue
        ids: list[int] = []
        for segment in (segment for segments in plan[1] for segment in segments):
            ids += next(parts) if segment.token_id is None else [segment.token_id]
        locate = partial(locate_tokens, tokenizer.tokenizer, *plan, options.is_split_into_words)
        encoded.append(EncodedText(ids, locate))
    return encoded


def _segments(tokenizer: PrunedBPETokenizer, text: str, options: CallOptions) -> list[Segment]:
    cut = tokenizer.token_tables.cut(text, options.split_special_tokens)
    if cut is None:
        return [Segment(0, len(text))] if text else []
    return cut
