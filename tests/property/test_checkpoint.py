"""A run stopped at any moment and resumed ends byte-identical to one that was never stopped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from implementations import NATIVE_THREADS
from strategies import zipf_text

import prunedbpe
from prunedbpe.merges import learner as learner_module
from prunedbpe.merges import run_directory as checkpoint_module
from prunedbpe.merges.run_directory import RunDirectory

SIZE, THRESHOLD = 300, "60%"


class KilledError(BaseException):
    """As a signal would: nothing in the library may hold it up."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text(zipf_text(), encoding="utf-8")
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".json"}


def trained(corpus, run_dir, out, **options) -> dict[str, bytes]:
    tokenizer = prunedbpe.train(corpus, SIZE, threshold=THRESHOLD, run_dir=run_dir, **options)
    tokenizer.save(out)
    return {path.name: path.read_bytes() for path in out.iterdir()}


@pytest.fixture(scope="module")
def undisturbed(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    tokenizer = trained(corpus, folder / "run", folder / "out")
    assert b"261\t" in tokenizer["vocab.txt"]
    assert tokenizer["inter_vocab.txt"]
    return tokenizer, files(folder / "run")


def test_from_every_checkpoint(corpus, undisturbed, tmp_path):
    tokenizer, run_files = undisturbed
    merges = prunedbpe.MergeTable.load(_written(tmp_path / "m.parquet", run_files))
    for merge_count in range(len(merges) + 1):
        run_dir = tmp_path / f"run-{merge_count}"
        run = RunDirectory(run_dir)
        prunedbpe.train(corpus, 260, run_dir=run_dir)  # counts, and no merge
        merges.head(merge_count).save(run.merges_path)
        assert trained(corpus, run_dir, tmp_path / f"out-{merge_count}") == tokenizer
        assert files(run_dir) == run_files


def _written(path: Path, run_files: dict[str, bytes]) -> Path:
    path.write_bytes(run_files["merges.parquet"])
    return path


@settings(max_examples=max(10, settings.default.max_examples // 5))
@given(stops=st.lists(st.integers(1, 12), max_size=6), threads=st.sampled_from(NATIVE_THREADS))
def test_killed_again_and_again(corpus, undisturbed, stops, threads, tmp_path_factory):
    """Killed at the n-th file that is about to be written, or step of learning; then resumed."""
    tokenizer, run_files = undisturbed
    folder = tmp_path_factory.mktemp("killed")
    with pytest.MonkeyPatch.context() as patch:
        # Steps of one merge each, and a checkpoint after each of them.
        patch.setattr(learner_module, "_STEP_SECONDS", 0.0)
        patch.setattr("os.fsync", lambda _: None)  # many small files; the disk is not in question
        done = Counter()
        limit = [0]

        def counted(function):
            def call(*args, **options):
                done["all"] += 1
                if done["all"] == limit[0]:
                    raise KilledError
                return function(*args, **options)

            return call

        patch.setattr(prunedbpe.MergeTable, "save", counted(prunedbpe.MergeTable.save))
        patch.setattr(checkpoint_module, "write_json", counted(checkpoint_module.write_json))
        patch.setattr(prunedbpe.ChunkCounts, "save", counted(prunedbpe.ChunkCounts.save))
        for stop in stops:
            done.clear()
            limit[0] = stop
            try:
                trained(corpus, folder / "run", folder / "x", checkpoint_seconds=0, threads=threads)
            except KilledError:
                continue
            break
        limit[0] = 0
        found = trained(corpus, folder / "run", folder / "out")
    assert found == tokenizer
    assert files(folder / "run") == run_files
