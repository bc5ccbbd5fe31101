"""Give a model the rows of another vocabulary, by the map of :func:`prunedbpe.id_map`.

In: a matrix or a configuration of a model, and an :class:`IdMap`. Out: the same for the new
vocabulary. Rows of kept tokens are copied. The row of a new token is the mean of the rows of the
base tokens that spell it, in the input embedding and in the output layer. Rows beyond the map,
which only pad the matrix, are the mean of all rows of the base vocabulary.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from prunedbpe.analysis.retargeting import IdMap
from prunedbpe.errors import SettingsError
from prunedbpe.types import AnyArray, FloatArray, Settings

OUTPUT_AND_INPUT = (
    "embed_tokens.weight", "wte.weight", "word_embeddings.weight", "tok_embeddings.weight",
    "embed_in.weight", "embed_out.weight", "shared.weight", "lm_head.weight", "lm_head.bias",
    "output.weight",
)  # fmt: skip
"""Endings of the names of tensors that have a row for each token, in models of transformers,
Megatron-LM, llama and TorchTitan."""

_LOG = logging.getLogger("prunedbpe")


def row_count(ids: IdMap, pad_to_multiple_of: int = 1) -> int:
    """Return the number of rows for the new vocabulary.

    >>> row_count(IdMap({0: 0, 1: 3}, {2: [1, 2]}, [1, 2]), pad_to_multiple_of=8)
    8
    """
    if pad_to_multiple_of < 1:
        raise SettingsError(f"pad_to_multiple_of={pad_to_multiple_of}", hint="give at least 1")
    tokens = len(ids.kept) + len(ids.new)
    return -(-tokens // pad_to_multiple_of) * pad_to_multiple_of


def base_size(ids: IdMap) -> int:
    """Return the number of ids of the base tokenizer."""
    return len(ids.kept) + len(ids.dropped)


def map_rows(matrix: AnyArray, ids: IdMap, *, pad_to_multiple_of: int = 1) -> AnyArray:
    """Return the rows of the new vocabulary, of the same type.

    Args:
        matrix: A row, or a number, for each token of the base vocabulary; rows that pad it are
            dropped.
        ids: The map.
        pad_to_multiple_of: The number of rows is a multiple of it.

    >>> matrix = np.array([[0.0, 1], [2, 3], [4, 9]])
    >>> map_rows(matrix, IdMap({0: 2, 1: 0}, {2: [0, 1]}, [1])).tolist()
    [[4.0, 9.0], [0.0, 1.0], [1.0, 2.0]]
    """
    size = base_size(ids)
    if len(matrix) < size:
        raise SettingsError(
            f"a matrix of {len(matrix):,} rows, for a base tokenizer with {size:,} ids",
            hint="give the model that was trained with the base of this map",
        )
    rows = row_count(ids, pad_to_multiple_of)
    found = np.empty((rows, *matrix.shape[1:]), matrix.dtype)
    kept = np.array(sorted(ids.kept.items()), np.int64).reshape(-1, 2)
    found[kept[:, 0]] = matrix[kept[:, 1]]
    for token_id, parts in ids.new.items():
        found[token_id] = _mean(matrix[parts])
    if rows > len(ids.kept) + len(ids.new):
        found[len(ids.kept) + len(ids.new) :] = _mean(matrix[:size])
    return found


def _mean(rows: AnyArray) -> FloatArray:
    return np.asarray(rows.mean(axis=0, dtype=np.float64))


def map_config(config: Settings, ids: IdMap, rows: int) -> Settings:
    """Return a model's configuration with the new size and the new ids of special tokens.

    Args:
        config: The contents of ``config.json`` or ``generation_config.json``.
        ids: The map.
        rows: Number of rows of the new matrices.

    >>> ids = IdMap({0: 2, 1: 0}, {}, [1])
    >>> map_config({"vocab_size": 3, "eos_token_id": [2, 1], "pad_token_id": None}, ids, 2)
    {'vocab_size': 2, 'eos_token_id': [0], 'pad_token_id': None}
    """
    new_ids = {base: token_id for token_id, base in ids.kept.items()}
    changed: Settings = {}
    for key, value in config.items():
        if key == "vocab_size":
            changed[key] = rows
        elif isinstance(value, dict):  # a text model inside a larger one
            changed[key] = map_config(value, ids, rows)
        elif key.endswith(("_token_id", "_token_ids", "suppress_tokens")):
            changed[key] = map_special_ids(key, value, new_ids)
        else:
            changed[key] = value
    return changed


def map_special_ids(key: str, value: Any, new_ids: dict[int, int]) -> Any:
    """Return the new ids of an entry; ids without a token become ``None``, with a warning."""
    if isinstance(value, list):
        mapped = [map_special_ids(key, one, new_ids) for one in value]
        return [one for one in mapped if one is not None]
    if type(value) is not int or value < 0:  # -1 stands for no token
        return value
    if value not in new_ids:
        _LOG.warning("%s: the new vocabulary has no token for id %d; now null", key, value)
    return new_ids.get(value)


def tensors_with_rows(
    shapes: Mapping[str, Sequence[int]], vocab_size: int, tensors: Sequence[str] | None
) -> list[str]:
    """Return the names of the tensors that have a row for each token.

    Args:
        shapes: The shape of every tensor, by name.
        vocab_size: Number of rows.
        tensors: The names, if the caller knows them.

    Raises:
        SettingsError: None is known, or one has another number of rows.
    """
    fitting = [name for name, shape in shapes.items() if shape and shape[0] == vocab_size]
    if tensors is None:
        tensors = [name for name in fitting if f".{name}".endswith(_DOTTED)]
    wrong = [name for name in tensors if name not in fitting]
    if wrong or not tensors:
        problem = f"{wrong[0]!r} is not" if wrong else "no known name is"
        raise SettingsError(
            f"{problem} a tensor with {vocab_size:,} rows",
            hint=f"name them with tensors, among {', '.join(fitting) or '(none)'}",
        )
    return list(tensors)


_DOTTED = tuple(f".{name}" for name in OUTPUT_AND_INPUT)
