"""One job with its old and its new result, and the law for what an interrupted run leaves."""

from __future__ import annotations

import time
from pathlib import Path

from crash.harness import COUNT, Driver, Ended, Files, copy_over, hidden_files, visible_files
from crash.jobs import Job

from prunedbpe.errors import FormatError


class Scene:
    """One job, its old and its new result."""

    def __init__(self, job: Job, driver: Driver, inputs: Path, folder: Path) -> None:
        self.job, self._driver, self._inputs = job, driver, inputs
        self._template, self.work, self._probe = (folder / name for name in ("old", "work", "p"))
        self._template.mkdir()
        if job.before:
            assert self._run(job.before, self._template).code == 0
        self.old = visible_files(self._template)
        copy_over(self._template, self.work)
        began = time.monotonic()
        ended = self._run(job.command, self.work, mode=COUNT)
        self.seconds = time.monotonic() - began
        assert ended.code == 0, ended.stderr
        self.calls = ended.calls
        self.new = visible_files(self.work)
        assert self.new != self.old and not hidden_files(self.work)

    def _run(self, command: str, work: Path, **options: object) -> Ended:
        words = [word.format(i=self._inputs, w=work) for word in f"{command} -q".split()]
        return self._driver.run(words, work, **options)

    def run(self, **options: object) -> Ended:
        """Run the command on the old result."""
        copy_over(self._template, self.work)
        return self._run(self.job.command, self.work, **options)

    def check(self) -> None:
        """Read what is left, then run the command again."""
        copy_over(self.work, self._probe)
        try:
            self.job.reader(self._probe)
        except (FormatError, FileNotFoundError):
            # Only where there never was a result: what is there must not pass for one.
            assert not self.job.before, "neither the old nor the new result can be read"
            result = {name for name in visible_files(self._probe) if self._set_of(name)}
            assert not result, f"refused, but not missing: {result}"
        found = visible_files(self._probe)
        for beginning in self.job.sets:
            chosen = [_starting(files, beginning) for files in (found, self.old, self.new)]
            assert chosen[0] in chosen[1:], f"a mix: {sorted(chosen[0])}"
        ended = self._run(self.job.command, self.work)
        assert ended.code == 0, ended.stderr
        found = visible_files(self.work)
        names = {*found, *self.new}
        other = sorted(name for name in names if found.get(name) != self.new.get(name))
        assert not other, f"the second run ends with other bytes: {other}"
        assert not hidden_files(self.work)

    def _set_of(self, name: str) -> bool:
        return any(name.startswith(beginning) for beginning in self.job.sets)


def _starting(files: Files, beginning: str) -> Files:
    return {name: data for name, data in files.items() if name.startswith(beginning)}
