"""Run a command, kill it before a file-system call, and look at what is left.

``PRUNEDBPE_CRASH=all`` tries every call; otherwise a few of each job.
``PRUNEDBPE_CRASH_RANDOM=200`` kills at 200 random moments in all, instead of 10.
``PRUNEDBPE_CRASH_SEED`` chooses others.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
OFF, COUNT, KILL, FAIL_ONCE, FAIL_FROM = range(5)
KILLED = -9

CALLS_PER_JOB = None if os.environ.get("PRUNEDBPE_CRASH") == "all" else 5
RANDOM_KILLS = int(os.environ.get("PRUNEDBPE_CRASH_RANDOM", "10"))
SEED = os.environ.get("PRUNEDBPE_CRASH_SEED", "0")

Files = dict[str, bytes]


def build_shim(folder: Path) -> Path | None:
    """Compile the shim; ``None`` if there is no C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    shim = folder / "shim.so"
    command = [compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", str(shim)]
    subprocess.run([*command, str(HERE / "shim.c"), "-ldl"], check=True)
    return shim


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, or minus the signal."""

    code: int
    calls: int
    stderr: str


class Driver:
    """The process that forks for each command."""

    def __init__(self, shim: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "driver.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "LD_PRELOAD": str(shim), "OMP_NUM_THREADS": "1"},
        )

    def run(self, words: Iterable[object], folder: Path, mode: int = OFF, **options: Any) -> Ended:
        """Run a command and watch what it does below ``folder``."""
        request = {"words": [str(word) for word in words], "folder": str(folder), "mode": mode}
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({**request, **options}) + "\n")
        self._process.stdin.flush()
        return Ended(**json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def visible_files(folder: Path) -> Files:
    """The files that a user sees, by path below the folder."""
    return {name: data for name, data in all_files(folder).items() if "/." not in f"/{name}"}


def hidden_files(folder: Path) -> list[str]:
    """Temporary files and journals."""
    return sorted(set(all_files(folder)) - set(visible_files(folder)))


def all_files(folder: Path) -> Files:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def copy_over(source: Path, target: Path) -> Path:
    """Make ``target`` a copy of ``source``, at the same path every time."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target


def sample(calls: int, seed: str) -> list[int]:
    """Call numbers to try: all of them, or some by chance, most of them near the end.

    Files take their names in the last calls of a job.
    """
    every = range(1, calls + 1)
    if CALLS_PER_JOB is None or calls <= CALLS_PER_JOB:
        return list(every)
    chance = random.Random(SEED + seed)
    return sorted({*chance.sample(every, 2), *chance.sample(every[-14:], CALLS_PER_JOB - 2)})
