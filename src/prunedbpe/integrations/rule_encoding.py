"""Rows of a tokenizer that replaces a fast one of transformers: truncated and put together alike.

Other tokenizers cut and assemble as those of transformers written in Python do
(:mod:`prunedbpe.integrations.row_encoding`): no windows, other lengths of truncated pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prunedbpe.errors import SettingsError
from prunedbpe.integrations.call_inputs import CallOptions
from prunedbpe.integrations.original_rules import OriginalRules, truncated_lengths, windows
from prunedbpe.integrations.text_encoding import EncodedText, TextEncoding

if TYPE_CHECKING:
    from prunedbpe.integrations.transformers import PrunedBPETokenizer

Windows = list[tuple[int, int]]


def assemble_by_rules(
    tokenizer: PrunedBPETokenizer,
    rules: OriginalRules,
    sequences: list[EncodedText],
    options: CallOptions,
) -> list[TextEncoding]:
    """Return the encoding of a row, and those of its overflowing windows if they are asked for."""
    kept = _truncate(tokenizer, sequences, options)
    rows = [[spans[0] for spans in kept]]
    if options.return_overflowing_tokens:
        # Only one text of a pair has more than one window.
        most = max(map(len, kept))
        rows = [[spans[min(i, len(spans) - 1)] for spans in kept] for i in range(most)]
    return [_assemble(tokenizer, rules, sequences, row, options) for row in rows]


def _truncate(
    tokenizer: PrunedBPETokenizer, sequences: list[EncodedText], options: CallOptions
) -> list[Windows]:
    """Return the windows of each text; the first one is what truncation keeps."""
    lengths = [len(sequence.ids) for sequence in sequences]
    strategy, side = options.truncation_strategy, tokenizer.truncation_side
    added = (
        tokenizer.num_special_tokens_to_add(len(sequences) == 2)
        if options.add_special_tokens
        else 0
    )
    room = max(0, (options.max_length or 0) - added)
    surplus = sum(lengths) - room
    limits = list(lengths)
    if strategy == "do_not_truncate" or not options.max_length or surplus <= 0:
        pass
    elif strategy == "longest_first":
        if len(lengths) == 1:
            limits = [room]
        else:
            limits = list(truncated_lengths(lengths[0], lengths[1], room))
    else:
        which = ("only_first", "only_second").index(strategy)
        if which >= len(lengths) or (lengths[which] <= surplus and room > 0):
            raise SettingsError(
                f"truncation {strategy!r} cannot remove {surplus} tokens: the text has "
                f"{lengths[which] if which < len(lengths) else 0}",
                hint="use truncation='longest_first', or another max_length",
            )
        limits = [0, 0] if room == 0 else limits
        if room:
            limits[which] -= surplus
    return [
        windows(length, limit, options.stride, side)
        for length, limit in zip(lengths, limits, strict=False)
    ]


def _assemble(
    tokenizer: PrunedBPETokenizer,
    rules: OriginalRules,
    sequences: list[EncodedText],
    row: Windows,
    options: CallOptions,
) -> TextEncoding:
    sources: list[tuple[int, int]] = [
        (number, place) for number, window in enumerate(row) for place in range(*window)
    ]
    # Pass tokens as negative codes, to tell them from the special tokens in the result.
    codes = [-1 - i for i in range(len(sources))]
    split = row[0][1] - row[0][0]
    built, type_ids = rules.assemble(
        codes[:split],
        codes[split:] if len(sequences) == 2 else None,
        add_special=options.add_special_tokens,
    )
    places = [sources[-1 - code] if code < 0 else None for code in built]
    ids = [
        sequences[place[0]].ids[place[1]] if place else code
        for place, code in zip(places, built, strict=True)
    ]
    return TextEncoding(
        ids,
        places,
        sequences,
        tokenizer.convert_ids_to_tokens,
        type_ids,
        rules.trim,
    )
