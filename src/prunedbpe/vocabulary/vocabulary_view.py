"""A vocabulary as a table: Arrow columns, and the rows that a notebook shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prunedbpe._support.notebook_view import ends, view_table
from prunedbpe._support.result_tables import text_or_none
from prunedbpe.types import BYTE_COUNT

if TYPE_CHECKING:
    import pyarrow as pa

    from prunedbpe.vocabulary.vocabulary import Vocabulary


def vocabulary_to_arrow(vocabulary: Vocabulary) -> pa.Table:
    """Return one row for each token, in order of id; see :meth:`Vocabulary.to_arrow`."""
    import pyarrow as pa  # slow to import

    spelled = vocabulary.bytes_by_id
    ids = np.array([i for i, string in enumerate(spelled) if string], np.int64)
    ranks = vocabulary.ranks_by_id[ids]
    is_learned = ranks >= BYTE_COUNT
    pairs = np.zeros((len(ids), 2), np.int64)
    pairs[is_learned] = vocabulary.pairs[ranks[is_learned] - BYTE_COUNT]
    specials = np.fromiter(vocabulary.special_ids.values(), np.int64, len(vocabulary.special_ids))
    strings = [spelled[i] for i in ids.tolist()]
    return pa.table(
        {
            "token_id": pa.array(ids, pa.uint32()),
            "bytes": pa.array(strings, pa.binary()),
            "text": pa.array([text_or_none(string) for string in strings], pa.string()),
            "rank": pa.array(ranks, pa.int64(), mask=ranks < 0),
            "left": pa.array(pairs[:, 0], pa.int64(), mask=~is_learned),
            "right": pa.array(pairs[:, 1], pa.int64(), mask=~is_learned),
            "visible": pa.array(ids < vocabulary.vocab_size),
            "special": pa.array(np.isin(ids, specials)),
        }
    )


def view_tokens(vocabulary: Vocabulary) -> str:
    """Return the first and the last learned tokens as a table in HTML."""
    learned = range(BYTE_COUNT, len(vocabulary.visible))
    rows = []
    for i in ends(len(learned)):
        rank = learned[i]
        left, right = vocabulary.pairs[i].tolist()
        parts = f"{left} + {right}"
        is_visible = bool(vocabulary.visible[rank])
        token_id = int(vocabulary.token_ids[rank])
        rows.append([rank, vocabulary.strings[rank], parts, token_id, is_visible])
    columns = ["rank", "token", "made of the ranks", "token id", "visible"]
    return view_table("First and last learned tokens", columns, rows)
