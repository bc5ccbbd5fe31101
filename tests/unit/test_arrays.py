"""NumPy comes when it is needed, and columns become arrays when asked for."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np

import prunedbpe
from prunedbpe.files import digest_arrays

TEXTS = ["the cat in the hat", "that hat", "the cat sat"]


def test_counting_and_learning_do_without_numpy(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("\n".join(TEXTS), encoding="utf-8")
    program = f"""
import sys, prunedbpe
counts = prunedbpe.count({str(text)!r})
merges = prunedbpe.learn(counts, 5)
print(len(counts), len(merges), merges.counts_digest, "numpy" in sys.modules)
print(merges.pairs.tolist(), "numpy" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    counts = prunedbpe.count(text)
    merges = prunedbpe.learn(counts, 5)
    assert run.stdout.splitlines() == [
        f"{len(counts)} 5 {counts.digest} False",
        f"{merges.pairs.tolist()} True",
    ], run.stderr


def test_a_tokenizer_does_without_numpy(tmp_path: Path) -> None:
    tokenizer = prunedbpe.train(TEXTS, 265, threshold=1)
    tokenizer.save(tmp_path)
    program = f"""
import sys
from prunedbpe import Tokenizer
tokenizer = Tokenizer.load({str(tmp_path)!r})
ids = tokenizer.encode("the cat sat")
print(ids, tokenizer.decode(ids), tokenizer.encode_batch(["hat"]), "numpy" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    ids = tokenizer.encode("the cat sat")
    batch = tokenizer.encode_batch(["hat"])
    assert run.stdout == f"{ids} the cat sat {batch} False\n", run.stderr


def test_a_column_becomes_an_array_once() -> None:
    counts = prunedbpe.count(iter(TEXTS))
    assert isinstance(counts.column("counts"), memoryview)
    assert isinstance(counts.counts, np.ndarray)
    assert counts.counts is counts.counts is counts.column("counts")


def test_tables_survive_a_pickle_whether_arrays_were_made_or_not() -> None:
    for ask in (False, True):
        counts = prunedbpe.count(iter(TEXTS))
        merges = prunedbpe.learn(counts, 4)
        if ask:
            assert counts.counts.sum() and merges.pairs.size
        same_counts, same_merges = pickle.loads(pickle.dumps((counts, merges)))
        assert same_counts == counts
        assert same_counts.digest == counts.digest
        assert np.array_equal(same_merges.pairs, merges.pairs)
        assert np.array_equal(same_merges.applied.replacements, merges.applied.replacements)
        assert np.array_equal(same_merges.applied.byte_counts, merges.applied.byte_counts)


def test_a_digest_is_of_values_however_they_lie_in_memory() -> None:
    values = np.arange(12, dtype=np.int64).reshape(3, 4)
    wanted = digest_arrays(values)
    assert digest_arrays(memoryview(values)) == wanted
    assert digest_arrays(values.astype(">i8")) == wanted
    assert digest_arrays(np.asfortranarray(values)) == wanted
    assert digest_arrays(values.ravel()) != wanted
    assert digest_arrays(values.astype(np.uint64)) != wanted
    for column in (np.zeros((0, 2), np.uint32), np.array([True]), np.array([0.5])):
        assert digest_arrays(column) == digest_arrays(memoryview(column))
