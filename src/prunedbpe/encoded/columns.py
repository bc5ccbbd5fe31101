"""Columns of text in, flat token ids and offsets out: Arrow, pandas, polars, NumPy.

Row ``i`` has ``ids[offsets[i]:offsets[i + 1]]``; a row without a value has no ids.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from prunedbpe._support.signatures import takes_options
from prunedbpe.encoded.writer import id_lists
from prunedbpe.errors import SettingsError
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.encode_options import EncodePlan
from prunedbpe.types import Int64Array, UInt32Array


@takes_options(EncodePlan, segmentation=None)
def encode_column(
    tokenizer: Tokenizer, column: Any, *, threads: int | None = None, **options: Any
) -> tuple[UInt32Array, Int64Array]:
    """Encode a column of text.

    Args:
        tokenizer: Encodes the text.
        column: An Arrow array or chunked array, a pandas or polars series, a NumPy array, a list.
        threads: One per core by default.
        **options: Those of :meth:`~prunedbpe.tokenizer.Tokenizer.encode_batch_to_numpy`.

    >>> import prunedbpe, pyarrow as pa
    >>> tok = prunedbpe.train(["ab ab"], vocab_size=261, threshold=0)
    >>> ids, offsets = encode_column(tok, pa.array(["ab", None, "ab c"]))
    >>> ids.tolist(), offsets.tolist()
    ([256, 256, 32, 99], [0, 1, 1, 4])
    """
    return tokenizer.encode_batch_to_numpy(_texts(column), threads=threads, **options)


@takes_options(EncodePlan, segmentation=None)
def encode_to_arrow(
    tokenizer: Tokenizer, column: Any, *, threads: int | None = None, **options: Any
) -> pa.LargeListArray[Any]:
    """Encode a column of text into an Arrow array of lists, ready to be a column of a table."""
    return id_lists(*encode_column(tokenizer, column, threads=threads, **options))


def _texts(column: Any) -> list[str]:
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
            texts.append("")
        else:
            raise SettingsError(f"row {row} of the column is {value!r}, not text")
    return texts
