"""Counts, sources and merges as Parquet: damage is found, and what loads is what was saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from fuzz.law import SEEDS
from fuzz.mutations import damaged_bytes
from strategies import zipf_text

import prunedbpe
from prunedbpe.counts import ChunkCounts, SourceCounts
from prunedbpe.errors import FormatError
from prunedbpe.merges import MergeTable

# Damage may turn the Unicode version of a pretokenizer into another one.
pytestmark = pytest.mark.filterwarnings("ignore:pretokenizer .* was saved with Unicode")

COUNTS = prunedbpe.count(iter(zipf_text(60).split("\n")))
TABLES = {
    "counts": COUNTS,
    "sources": SourceCounts.from_tables(["a", "b"], [COUNTS, COUNTS]),
    "merges": prunedbpe.learn(COUNTS, 100),
}


def columns(table: Any) -> list[Any]:
    if isinstance(table, ChunkCounts):
        return [*table.columns, table.settings()]
    if isinstance(table, SourceCounts):
        return [*columns(table.total), table.offsets, table.sources, table.counts, table.names]
    assert isinstance(table, MergeTable)
    return [
        table.pairs, table.frequencies, table.applied.replacements, table.applied.byte_counts,
        table.pretokenizer.describe(), table.corpus, table.counts_digest, table.exhausted,
    ]  # fmt: skip


def are_equal(first: Any, second: Any) -> bool:
    return all(
        np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        for a, b in zip(columns(first), columns(second), strict=True)
    )


@pytest.mark.parametrize("kind", TABLES)
def test_damaged_tables(kind: str, tmp_path: Path) -> None:
    table, path = TABLES[kind], tmp_path / f"{kind}.parquet"
    table.save(path)
    whole = path.read_bytes()
    assert are_equal(type(table).load(path), table)
    refused = 0
    for seed in SEEDS:
        path.write_bytes(damaged_bytes(whole, seed))
        try:
            loaded = type(table).load(path)
        except FormatError as error:
            assert path.name in str(error), seed
            refused += 1
        else:
            assert are_equal(loaded, table), seed
    assert refused > len(SEEDS) // 2


@pytest.mark.parametrize("kind", TABLES)
def test_values_changed_by_another_program(kind: str, tmp_path: Path) -> None:
    table, path = TABLES[kind], tmp_path / f"{kind}.parquet"
    table.save(path)
    stored = pq.read_table(path)
    for name in ("count", "first_position", "frequency", "applied"):
        if name not in stored.column_names:
            continue
        values = stored[name].to_numpy().copy()
        values[-1] += 1
        changed = stored.set_column(stored.column_names.index(name), name, [values])
        pq.write_table(changed.replace_schema_metadata(stored.schema.metadata), path)
        with pytest.raises(FormatError, match=path.name):
            type(table).load(path)
    pq.write_table(stored.slice(0, len(stored) - 1), path)
    with pytest.raises(FormatError, match=path.name):
        type(table).load(path)
