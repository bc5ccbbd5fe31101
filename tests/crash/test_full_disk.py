"""A full disk or a read-only folder: an error that names the file, and the old result stays."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from crash.harness import (
    CALLS_PER_JOB,
    FAIL_FROM,
    FAIL_ONCE,
    Driver,
    hidden_files,
    sample,
    visible_files,
)
from crash.jobs import JOBS, Job
from crash.scene import Scene

NAMES = (
    "train",
    "count",
    "save over a tokenizer",
    "encode to npy",
    "encode to parquet",
    "encode to bin per file",
    "encode to jsonl where npy was",
)
CHOSEN = [job for job in JOBS if CALLS_PER_JOB is None or job.name in NAMES]
every_job = pytest.mark.parametrize("job", CHOSEN, ids=lambda job: job.name)


@every_job
def test_full_disk(job: Job, driver: Driver, inputs: Path, folder: Path) -> None:
    """The disk is full at one call, or from that call on."""
    scene = Scene(job, driver, inputs, folder)
    for call in sample(scene.calls, "full disk " + job.name):
        for mode in (FAIL_ONCE, FAIL_FROM):
            ended = scene.run(mode=mode, call=call, error=errno.ENOSPC)
            if ended.code == 0:  # a call that no result depends on, such as syncing a folder
                assert visible_files(scene.work) == scene.new
                continue
            assert ended.code == 1 and "Traceback" not in ended.stderr
            assert f"error: {scene.work}" in ended.stderr, ended.stderr
            assert "No space left on device" in ended.stderr
            assert not any(name.endswith(".tmp") for name in hidden_files(scene.work)) or (
                any(name.endswith(".commit") for name in hidden_files(scene.work))
            )
            scene.check()


@every_job
def test_read_only_folder(job: Job, driver: Driver, inputs: Path, folder: Path) -> None:
    scene = Scene(job, driver, inputs, folder)
    ended = scene.run(mode=FAIL_FROM, call=1, error=errno.EROFS)
    assert ended.code == 1 and "Traceback" not in ended.stderr
    assert f"error: {scene.work}" in ended.stderr and "Read-only file system" in ended.stderr
    assert visible_files(scene.work) == scene.old and not hidden_files(scene.work)
