"""Make what is missing, several runs at a time; or say how long that would take.

A worker takes the first run that is missing and that no other works on. It holds a lock while it
does, which the system releases if it dies, so workers may be started and stopped at any time, also
by another command.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from studies.language_model.measures import row_nats
from studies.language_model.results import RunName
from studies.language_model.study import Study, digest_name
from studies.language_model.training import clock, precision

TIMED_STEPS = 4

KEEP_MEMORY = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
"""For glibc: use freed memory again, in huge pages, and never give it back. The logits of every
pass are fresh pages otherwise, and making those takes a third of the time."""


def continue_study(open_study: Callable[[], Study], workers: int) -> None:
    """Make all missing runs.

    Args:
        open_study: Opens it in each worker; can be pickled.
        workers: Processes; each uses the threads of the configuration.
    """
    study = open_study()  # trains what tokenizers are missing, before the workers load them
    study.write_text_file()
    os.environ.update(KEEP_MEMORY)  # read when a process starts
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=open_and_work, args=(open_study,)) for _ in range(workers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        sys.exit("a worker failed; the same command continues")


def open_and_work(open_study: Callable[[], Study]) -> None:
    """What a process does."""
    work(open_study())


def work(study: Study) -> None:
    """Make runs until none is left that is free."""
    for run in study.runs:
        with only_worker(study.cache, digest_name(study.made_with(run))) as is_free:
            if is_free and study.is_missing(run):
                started = time.monotonic()
                figures = study.make(run, lambda line, run=run: say(f"{run}: {line}"))
                found = figures["equal_text"]["bits_per_byte"]["all"]
                minutes = (time.monotonic() - started) / 60
                say(f"{run}: {found:.4f} bits per byte after {minutes:.1f} minutes")
    for size, name in study.second_opinions():
        with only_worker(study.cache, f"kneser-ney-{size}-{name}") as is_free:
            if is_free and (size, name) in study.second_opinions():
                bits = study.make_second_opinion(size, name)["bits_per_byte"]
                say(f"{size}, {name}: 5-gram {bits:.4f} bits per byte")


@contextmanager
def only_worker(cache: Path, name: str) -> Iterator[bool]:
    """Hold a lock, if it is free, and say whether it was."""
    folder = cache / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def show_plan(study: Study, workers: int) -> None:
    """Print what is missing, and how long it takes by the speed of a few steps."""
    missing = study.missing()
    print(f"{len(study.runs)} runs, {len(missing)} missing; {len(study.second_opinions())} 5-gram")
    total = 0.0
    groups: dict[tuple[int, str], list[RunName]] = {}
    for run in missing:
        groups.setdefault((run.size, run.context), []).append(run)
    for (size, context), runs in groups.items():
        seconds = estimate(study, runs[0])
        total += seconds * len(runs)
        print(f"{size} {context}: {len(runs)} runs, {seconds / 60:.0f} minutes each")
    print(f"{total / 3600:.1f} hours of CPU, {total / 3600 / workers:.1f} with {workers} workers")


def estimate(study: Study, run: RunName) -> float:
    """Seconds of a run, by the time of a few steps and of measuring a few rows."""
    job = study.prepare(run)
    batches = list(job.course.batches(study.settings.batch_rows))
    for timed in (batches[:1], batches[1 : 1 + TIMED_STEPS]):
        started = clock(job.device)
        for first, last in timed:
            job.step(first, last)
        a_step = (clock(job.device) - started) / max(len(timed), 1)
    rows = job.held_out.rows
    some = rows[len(rows) // 2 :][: study.settings.rows_at_once]
    started = clock(job.device)
    with precision(job.device, study.settings):
        row_nats(job.model, job.held_out.stream, some, job.device)
    measuring = (clock(job.device) - started) * len(rows) / len(some)
    points = study.settings.curve_points * study.settings.curve_bytes
    held_out = int(job.held_out.stream.places[-1])
    times = len(set(job.course.marks.values())) + points / held_out
    return a_step * len(batches) + measuring * times


def say(line: str) -> None:
    """Progress, with the time."""
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)
