"""Arrow data of other libraries is a corpus, and results become data frames."""

from __future__ import annotations

import pytest

import prunedbpe
from prunedbpe import Corpus
from prunedbpe.analysis.auditing import audit
from prunedbpe.analysis.evaluation import evaluate

TEXTS = ["hello there", "", None, "中文 text", "x" * 30] * 7


@pytest.mark.parametrize("package", ["polars", "pandas"])
def test_data_frames(package):
    module = pytest.importorskip(package, reason=f"{package} is not installed")
    expected = prunedbpe.count([text for text in TEXTS if text])
    frame = module.DataFrame({"text": TEXTS})
    assert prunedbpe.count(frame) == expected
    if hasattr(frame["text"], "__arrow_c_stream__"):  # of pandas, from 3.0 on
        assert prunedbpe.count(frame["text"]) == expected


def test_results_become_data_frames():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    polars = pytest.importorskip("polars", reason="polars is not installed")
    texts = [text for text in TEXTS if text] * 3
    counts = prunedbpe.count(texts)
    merges = prunedbpe.learn(counts, 8)
    tok = prunedbpe.prune(merges, 264, threshold=0)
    cells = prunedbpe.sweep(merges, [264, 266], [0, 1])
    rows = evaluate({"tok": tok}, {"texts": Corpus.from_texts(texts)}, bootstrap=0)
    for result in (counts, merges, tok.vocabulary, cells, rows, audit(tok, iter(texts))):
        table = result.to_arrow()
        for frame in (polars.from_arrow(table), table.to_pandas()):
            assert list(frame.columns) == table.column_names
            assert len(frame) == table.num_rows
        if isinstance(result, list):  # which both libraries would read row by row
            continue
        assert polars.DataFrame(result).shape == table.shape
        if hasattr(pandas.DataFrame, "from_arrow"):  # from 3.0 on
            assert pandas.DataFrame.from_arrow(result).shape == table.shape
    by_size = polars.from_arrow(cells.to_arrow()).filter(polars.col("threshold") == "0")
    assert by_size["encoded_length"].to_list() == [c.encoded_length for c in cells[::2]]
