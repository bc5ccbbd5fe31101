"""How far tokens are spread over sources."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import chunk_counts

from prunedbpe import ChunkCounts, SourceCounts, learn, reduce_counts, replay
from prunedbpe.visibility.exposure import exposure
from prunedbpe.visibility.spread import effective_sources, replay_sources


@given(st.lists(chunk_counts(), min_size=1, max_size=4))
def test_effective_sources_are_what_the_definition_says(parts):
    tables = [ChunkCounts.from_mapping(part) for part in parts]
    merges = learn(reduce_counts(tables), 30)
    sources = [replay(merges, table) for table in tables]
    found = effective_sources(merges.pairs, sources, len(merges))
    rows = [exposure(merges.pairs, source).tolist() for source in sources]
    for rank, exposures in enumerate(zip(*rows, strict=True)):
        total = sum(exposures)
        expected = 1 / sum((e / total) ** 2 for e in exposures) if total else 1
        assert np.isclose(found[rank], expected)
        assert 1 - 1e-9 <= found[rank] <= len(parts) + 1e-9


def test_tables_of_one_name_are_one_source():
    tables = [ChunkCounts.from_mapping(part) for part in ({b"ab": 1}, {b"b": 2}, {b"ab": 3})]
    sources = SourceCounts.from_tables("aba", tables)
    merges = learn(sources.total, 1)
    first, second = replay_sources(merges, sources)
    assert len(sources) == 2
    assert (first.total_bytes, first.replacements.tolist()) == (8, [4])
    assert (second.total_bytes, second.replacements.tolist()) == (2, [0])
