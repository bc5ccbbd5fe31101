"""Calls with one text per row, which are most: all rows at once, as arrays.

Results equal those of :mod:`prunedbpe.integrations.row_encoding`; a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from transformers import BatchEncoding

from prunedbpe.errors import PrunedBPEError
from prunedbpe.integrations.call_inputs import CallOptions, without_surrogates
from prunedbpe.integrations.plain_batch import PlainBatch, pad_lists
from prunedbpe.integrations.segments import Segment
from prunedbpe.integrations.text_encoding import EncodedText, LazyEncodings, TextEncoding
from prunedbpe.integrations.token_spans import locate_tokens

if TYPE_CHECKING:
    from prunedbpe.integrations.transformers import PrunedBPETokenizer


def is_plain(text: Any, text_pair: Any, options: CallOptions) -> bool:
    """Whether a call has one text per row and asks for nothing that needs its rows one by one."""
    if (
        text_pair is not None
        or options.is_split_into_words
        or options.return_overflowing_tokens
        or options.truncation_strategy == "only_second"
    ):
        return False
    texts = text if isinstance(text, (list, tuple)) else [text]
    return set(map(type, texts)) == {str}


def encode_one(tokenizer: PrunedBPETokenizer, text: str) -> BatchEncoding | None:
    """Encode a text without options; ``None`` if it needs more than the usual steps."""
    tables, names = tokenizer.token_tables, tokenizer.model_input_names
    if tokenizer.split_special_tokens or "token_type_ids" in names or tables.cut(text):
        return None
    try:
        ids = tokenizer.tokenizer.encode(text)
    except PrunedBPEError:  # a lone surrogate
        return None
    prefix, suffix = tables.around
    row = [*prefix, *ids, *suffix] if prefix or suffix else ids
    if len(row) > tokenizer.model_max_length:
        return None  # there is a warning to give
    data = {"input_ids": row}
    if "attention_mask" in names:
        data["attention_mask"] = [1] * len(row)
    build = partial(_encoding_of_one, tokenizer, text, row, len(prefix), len(ids))
    return BatchEncoding(data, LazyEncodings(1, build), n_sequences=1)


def encode_plain(
    tokenizer: PrunedBPETokenizer, text: str | list[str], options: CallOptions
) -> BatchEncoding:
    """Encode one text or many; see :func:`is_plain`."""
    is_batched = not isinstance(text, str)
    texts = [text] if isinstance(text, str) else list(text)
    try:
        batch = _encode_texts(tokenizer, texts, options)
    except PrunedBPEError:  # lone surrogates, which are rare
        batch = _encode_texts(tokenizer, list(map(without_surrogates, texts)), options)
    prefix, suffix = tokenizer.token_tables.around if options.add_special_tokens else ([], [])
    if options.truncation_strategy != "do_not_truncate" and options.max_length:
        room = options.max_length - len(prefix) - len(suffix)
        batch.truncate(room, tokenizer.truncation_side)
    rules = tokenizer.rules
    if batch.spans is not None and rules and rules.trims_offsets:
        batch.trim_spans(rules.keeps_first_space)
    batch.add_special(prefix, suffix)
    lengths = batch.lengths
    longest = int(lengths.max())
    if longest > tokenizer.model_max_length:
        row = batch.ids[:longest].tolist()  # only its length is reported
        tokenizer._eventual_warn_about_too_long_sequence(row, options.max_length, options.verbose)
    width = _width(longest, options)
    pad_id = tokenizer.pad_token_id if width else 0
    columns: dict[str, tuple[Any, Any]] = {"input_ids": (batch.ids, pad_id)}
    if options.return_token_type_ids:
        around, kind = tokenizer.token_tables.types_around
        types = batch.types(around if prefix or suffix else [], kind)
        columns["token_type_ids"] = (types, tokenizer.pad_token_type_id)
    if options.return_attention_mask:
        columns["attention_mask"] = (1, 0)
    if options.return_special_tokens_mask:
        columns["special_tokens_mask"] = (batch.special, 1)
    make = _tensor_maker(options.return_tensors)
    side = options.padding_side
    if make and (longest <= width or (not width and longest == int(lengths.min()))):
        data: dict[str, Any] = {
            key: make(batch.table(values, width or longest, side, pad))
            for key, (values, pad) in columns.items()
        }
    else:
        data = {
            key: pad_lists(
                batch.masks() if isinstance(values, int) else batch.lists(values), width, side, pad
            )
            for key, (values, pad) in columns.items()
        }
    if options.return_offsets_mapping:
        data["offset_mapping"] = pad_lists(batch.span_lists(), width, side, (0, 0))
    if options.return_length:
        data["length"] = [max(width, length) for length in lengths.tolist()]
    build = partial(_encoding_of_row, tokenizer, batch, (len(prefix), len(suffix)), width, side)
    if not is_batched and not options.return_tensors:
        data = {key: values[0] for key, values in data.items()}
    encodings = LazyEncodings(len(texts), build)
    return BatchEncoding(data, encodings, options.return_tensors, n_sequences=1)


def _encode_texts(
    tokenizer: PrunedBPETokenizer, texts: list[str], options: CallOptions
) -> PlainBatch:
    tables = tokenizer.token_tables
    split = options.split_special_tokens
    cuts = {row: cut for row, text in enumerate(texts) if (cut := tables.cut(text, split))}
    with_spans = options.return_offsets_mapping
    return PlainBatch.encode(tokenizer.tokenizer, texts, cuts, tables, with_spans)


def _width(longest: int, options: CallOptions) -> int:
    """Return the length to pad rows to; 0 for none."""
    if options.padding_strategy == "do_not_pad":
        return 0
    width = longest if options.padding_strategy == "longest" else options.max_length or 0
    multiple = options.pad_to_multiple_of or 1
    return -(-width // multiple) * multiple


def _tensor_maker(kind: Any) -> Callable[[Any], Any] | None:
    """Return what makes a tensor of an array; ``None`` for kinds left to the base class."""
    kind = getattr(kind, "value", kind)
    if kind == "np":
        return lambda table: table
    if kind == "pt":
        try:
            from torch import from_numpy
        except ImportError:
            return None  # the base class says that torch is missing
        made: Callable[[Any], Any] = from_numpy
        return made
    return None


def _encoding_of_one(
    tokenizer: PrunedBPETokenizer, text: str, ids: list[int], begin: int, count: int, row: int
) -> TextEncoding:
    return _encoding(tokenizer, text, None, ids, begin, 0, count)


def _encoding_of_row(
    tokenizer: PrunedBPETokenizer,
    batch: PlainBatch,
    around: tuple[int, int],
    width: int,
    side: str,
    row: int,
) -> TextEncoding:
    ids = batch.ids[batch.offsets[row] : batch.offsets[row + 1]].tolist()
    padding = max(0, width - len(ids))
    begin = around[0] + (padding if side == "left" else 0)
    count = len(ids) - sum(around)
    ids = pad_lists([ids], width, side, tokenizer.pad_token_id)[0] if padding else ids
    first = int(batch.skipped[row])
    return _encoding(tokenizer, batch.texts[row], batch.cuts.get(row), ids, begin, first, count)


def _encoding(
    tokenizer: PrunedBPETokenizer,
    text: str,
    cut: list[Segment] | None,
    ids: list[int],
    begin: int,
    first: int,
    count: int,
) -> TextEncoding:
    """Build the encoding of a row: ``count`` tokens of the text from ``first`` on, at ``begin``."""
    segments = cut or ([Segment(0, len(text))] if text else [])
    locate = partial(locate_tokens, tokenizer.tokenizer, [text], [segments], False)
    sources: list[tuple[int, int] | None] = [None] * len(ids)
    sources[begin : begin + count] = [(0, first + i) for i in range(count)]
    sequences = [EncodedText(ids[begin : begin + count], locate)]
    encoding = TextEncoding(ids, sources, sequences, tokenizer.convert_ids_to_tokens)
    encoding.type_ids = [0] * len(ids)
    encoding.trim = tokenizer.rules.trim if tokenizer.rules else None
    return encoding
