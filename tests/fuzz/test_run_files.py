"""Damaged settings and states: a resumed run ends as an undisturbed one, or names the file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from fuzz.law import SEEDS, time_limit
from fuzz.mutations import damaged_bytes, damaged_json
from strategies import zipf_text

import prunedbpe
from prunedbpe._support.checkpoint import Checkpoint
from prunedbpe.corpus import Corpus
from prunedbpe.counts.source_weights import parse_source_weights
from prunedbpe.encoded import encode_files
from prunedbpe.errors import PrunedBPEError

# Damage may turn the Unicode version of a pretokenizer into another one.
pytestmark = pytest.mark.filterwarnings("ignore:pretokenizer .* was saved with Unicode")


def damage(path: Path, whole: bytes, seed: int) -> None:
    """Damage the bytes of a JSON file, or its meaning."""
    path.write_bytes(
        damaged_bytes(whole, seed) if seed % 2 else damaged_json(json.loads(whole), seed)
    )


def train(corpus: Path, run_dir: Path) -> list[int]:
    tok = prunedbpe.train(
        corpus, 330, threshold="auto", segmentation="shortest", run_dir=run_dir, threads=1,
        checkpoint_seconds=0,
    )  # fmt: skip
    return tok.encode(zipf_text(5))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(zipf_text(60), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["run.json", "choice.json"])
def test_run_directory(name: str, corpus: Path, tmp_path: Path, monkeypatch) -> None:
    run_dir = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "clear", lambda self: None)  # the last state stays
        expected = train(corpus, run_dir)
    whole = (run_dir / name).read_bytes()
    for seed in SEEDS[: len(SEEDS) // 3 + 1]:
        damage(run_dir / name, whole, seed)
        with time_limit():
            try:
                found = train(corpus, run_dir)
            except PrunedBPEError as error:
                # Settings of another run are refused by the folder's name.
                assert name in str(error) or str(run_dir) in str(error), seed
            else:
                assert found == expected, seed


def test_ledger_of_encoded_files(corpus: Path, tmp_path: Path) -> None:
    tok = prunedbpe.train(corpus, 330, threshold=0)
    folder = tmp_path / "encoded"
    encode_files(tok, Corpus(corpus), folder, "npy")
    ledger = folder / "encoded.json"
    whole, ids = ledger.read_bytes(), (folder / "00000.npy").read_bytes()
    for seed in SEEDS:
        damage(ledger, whole, seed)
        with time_limit():
            try:
                encode_files(tok, Corpus(corpus), folder, "npy")
            except PrunedBPEError as error:
                assert "encoded.json" in str(error), seed
        assert (folder / "00000.npy").read_bytes() == ids, seed
    shutil.rmtree(folder)


@pytest.mark.parametrize("content", ['{"a": 2, "b": 0.5}', "a\t2\nb\t0.5\n"], ids=["JSON", "lines"])
def test_source_weights(content: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    for seed in SEEDS:
        path.write_bytes(damaged_bytes(content.encode(), seed))
        try:
            weights = parse_source_weights(path)
        except PrunedBPEError as error:
            assert path.name in str(error), seed
        else:
            assert all(weight >= 0 for weight in dict(weights).values()), seed
