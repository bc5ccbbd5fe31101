"""Columns of text become columns of ids, whatever library holds them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from prunedbpe.encoded import encode_column, encode_to_arrow
from prunedbpe.errors import SettingsError


def test_columns(tok, documents):
    texts = [*documents, "", "x"]
    expected = tok.encode_batch(texts)
    columns = [pa.array(texts), pa.chunked_array([texts[:3], texts[3:]]), np.array(texts), texts]
    for package in ("pandas", "polars"):
        try:
            module = __import__(package)
        except ImportError:
            continue
        columns.append(module.Series(texts))
    for column in columns:
        ids, offsets = encode_column(tok, column)
        assert [ids[b:e].tolist() for b, e in pairwise(offsets)] == expected
    assert encode_to_arrow(tok, pa.array(texts)).to_pylist() == expected
    with pytest.raises(SettingsError, match="row 1"):
        encode_column(tok, ["a", 3])
    for row in (None, float("nan")):
        with pytest.raises(SettingsError, match="row 1 of the column has no text"):
            encode_column(tok, ["a", row])
        ids, offsets = encode_column(tok, ["a", row, "b"], missing="empty")
        assert (ids.tolist(), offsets.tolist()) == ([97, 98], [0, 1, 1, 2])
    column = encode_to_arrow(tok, ["a"], dtype="int64")
    assert column.type == pa.large_list(pa.int64()) and column.to_pylist() == [[97]]
