"""A process killed before any file-system call leaves the old result, the new one, or a state from
which the same command ends with the same bytes. No temporary file outlives the next run."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from crash.harness import KILL, KILLED, RANDOM_KILLS, SEED, Driver, sample
from crash.jobs import JOBS, Job
from crash.scene import Scene


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_killed_before_a_call(job: Job, driver: Driver, inputs: Path, folder: Path) -> None:
    scene = Scene(job, driver, inputs, folder)
    for call in sample(scene.calls, job.name):
        ended = scene.run(mode=KILL, call=call)
        assert ended.code == KILLED, (call, ended)
        try:
            scene.check()
        except Exception as error:
            raise AssertionError(f"call {call} of {scene.calls}: {error}") from error


def test_killed_at_random_moments(driver: Driver, inputs: Path, folder: Path) -> None:
    chance = random.Random(SEED)
    scenes: dict[str, Scene] = {}
    killed = 0
    for _ in range(RANDOM_KILLS):
        job = chance.choice(JOBS)
        if job.name not in scenes:
            place = folder / job.name.replace(" ", "-")
            place.mkdir()
            scenes[job.name] = Scene(job, driver, inputs, place)
        scene = scenes[job.name]
        killed += scene.run(delay=chance.uniform(0, 1.1 * scene.seconds)).code == KILLED
        scene.check()
    assert killed > RANDOM_KILLS // 4  # the others were done before
