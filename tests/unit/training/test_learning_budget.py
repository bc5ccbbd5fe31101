"""A budget that is too small for learning is refused before learning, and counts are kept."""

from __future__ import annotations

import pytest

import prunedbpe
from prunedbpe import training
from prunedbpe.errors import SettingsError


def test_too_little_memory_to_learn(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"word{n}\n" for n in range(20_000)), encoding="utf-8")
    expected = prunedbpe.train(path, vocab_size=400)
    monkeypatch.setattr(training, "LEAST_MEMORY", 1)
    monkeypatch.setattr(training, "machine_memory", lambda: 5_000_000)
    with pytest.raises(SettingsError, match=r"learning on 20,000 unique chunks needs about \d+"):
        prunedbpe.train(path, vocab_size=400, run_dir=tmp_path / "run")
    assert (tmp_path / "run" / "counts.parquet").exists()
    monkeypatch.undo()
    found = prunedbpe.train(path, vocab_size=400, run_dir=tmp_path / "run", memory="1GB")
    assert found.vocabulary.strings == expected.vocabulary.strings
