"""Columns of text in, flat token ids and offsets out: Arrow, pandas, polars, NumPy.

Row ``i`` has ``ids[offsets[i]:offsets[i + 1]]``.
"""

from __future__ import annotations

from typing import Any, Literal

import pyarrow as pa

from prunedbpe._support.signatures import takes_options
from prunedbpe.encoded.file_formats import IdType, id_type
from prunedbpe.encoded.writer import id_lists
from prunedbpe.errors import SettingsError
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.encode_options import EncodePlan
from prunedbpe.types import Int64Array, UInt32Array


@takes_options(EncodePlan, segmentation=None)
def encode_column(
    tokenizer: Tokenizer,
    column: Any,
    *,
    missing: Literal["error", "empty"] = "error",
    threads: int | None = None,
    **options: Any,
) -> tuple[UInt32Array, Int64Array]:
    """Encode a column of text.

    Args:
        tokenizer: Encodes the text.
        column: An Arrow array or chunked array, a pandas or polars series, a NumPy array, a list.
        missing: What a row without a value (null, ``None``, NaN) is: an error, or a row without
            ids.
        threads: One per core by default.
        **options: Those of :meth:`~prunedbpe.tokenizer.Tokenizer.encode_batch_to_numpy`.

    Raises:
        SettingsError: A row has no value, or one that is not text; the message names the row.

    >>> import prunedbpe, pyarrow as pa
    >>> tok = prunedbpe.train(["ab ab"], vocab_size=261, threshold=0)
    >>> ids, offsets = encode_column(tok, pa.array(["ab", None, "ab c"]), missing="empty")
    >>> ids.tolist(), offsets.tolist()
    ([256, 256, 32, 99], [0, 1, 1, 4])
    """
    if missing not in ("error", "empty"):
        raise SettingsError(f"missing {missing!r}", hint="use error or empty")
    texts = _texts(column, missing)
    return tokenizer.encode_batch_to_numpy(texts, threads=threads, **options)


@takes_options(EncodePlan, segmentation=None)
def encode_to_arrow(
    tokenizer: Tokenizer, column: Any, *, dtype: IdType = "uint32", **options: Any
) -> pa.LargeListArray[Any]:
    """Encode a column of text into an Arrow array of lists, ready to be a column of a table.

    Args:
        tokenizer: Encodes the text.
        column: As for :func:`encode_column`.
        dtype: Type of an id.
        **options: Those of :func:`encode_column`.
    """
    id_type("arrow", tokenizer.vocab_size, dtype)
    ids, offsets = encode_column(tokenizer, column, **options)
    return id_lists(ids.astype(dtype, copy=False), offsets)


def _texts(column: Any, missing: str) -> list[str]:
    if hasattr(column, "to_pylist"):  # Arrow
        values = column.to_pylist()
    elif hasattr(column, "to_list"):  # pandas, polars
        values = column.to_list()
    elif hasattr(column, "tolist"):  # NumPy
        values = column.tolist()
    else:
        values = list(column)
    texts = []
    for row, value in enumerate(values):
        if isinstance(value, str):
            texts.append(value)
        elif value is None or value != value:  # pandas writes missing values as NaN
            if missing == "error":
                raise SettingsError(
                    f"row {row} of the column has no text",
                    hint="for a row without ids, set missing='empty'",
                )
            texts.append("")
        else:
            raise SettingsError(f"row {row} of the column is {value!r}, not text")
    return texts
