"""What other libraries hold as Arrow data is a corpus, without Python strings."""

from __future__ import annotations

import pytest

import prunedbpe

TEXTS = ["hello there", "", None, "中文 text", "x" * 30] * 7


@pytest.mark.parametrize("package", ["polars", "pandas"])
def test_data_frames(package):
    module = pytest.importorskip(package, reason=f"{package} is not installed")
    expected = prunedbpe.count([text for text in TEXTS if text])
    frame = module.DataFrame({"text": TEXTS})
    assert prunedbpe.count(frame) == expected
    if hasattr(frame["text"], "__arrow_c_stream__"):  # of pandas, from 3.0 on
        assert prunedbpe.count(frame["text"]) == expected
