"""What the tests of sources share."""

from __future__ import annotations

import numpy as np


def write(folder, texts):
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder


def cells(sources):
    """The matrix, as chunk -> source -> count."""
    rows = [chunk for chunk, _ in sources.total.items()]
    return {
        chunk: {sources.names[s]: int(n) for s, n in zip(*found, strict=True)}
        for chunk, *found in zip(
            rows,
            np.split(sources.sources, sources.offsets[1:-1]),
            np.split(sources.counts, sources.offsets[1:-1]),
            strict=True,
        )
    }


def assert_same(found, expected):
    assert found.total == expected.total
    assert found.total.corpus == expected.total.corpus
    for name in ("names", "kind", "note"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("offsets", "sources", "counts"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
