"""The shim, the process that runs commands, and the inputs of all jobs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_helpers import make_text
from crash.harness import Driver, build_shim

MEMORY = Path("/dev/shm")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, if there is one: the jobs sync many files, and the disk is not tested."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="prunedbpe-crash-", dir=MEMORY) as name:
        yield Path(name)


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    shim = build_shim(tmp_path_factory.mktemp("shim"))
    if shim is None:
        pytest.skip("needs Linux and a C compiler for the shim that kills a process")
    driver = Driver(shim)
    yield driver
    driver.close()


@pytest.fixture(scope="session")
def inputs(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two corpora, and what the jobs start from."""
    folder = tmp_path_factory.mktemp("inputs")
    for seed, name in enumerate(("new/a.txt", "new/b.txt", "old/a.txt", "old/b.txt")):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(make_text(seed, 40), encoding="utf-8")
    for command in (
        "train {i}/new --vocab-size 320 --threshold 40% -o {i}/pruned",
        "train {i}/new --vocab-size 320 --threshold 0 --pretokenizer gpt2 -o {i}/standard",
        "train {i}/old --vocab-size 300 --threshold 0 --pretokenizer gpt2 -o {i}/standard-old",
        "export {i}/standard huggingface -o {i}/stock.json",
        "export {i}/standard-old huggingface -o {i}/stock-old.json",
        "count {i}/new --shard 0/2 -o {i}/shards/0.parquet",
        "count {i}/new --shard 1/2 -o {i}/shards/1.parquet",
        "count {i}/new -o {i}/counts.parquet",
    ):
        ended = driver.run([word.format(i=folder) for word in f"{command} -q".split()], folder)
        assert ended.code == 0, ended.stderr
    return folder
