"""Progress: what each reporter shows, and which one is chosen."""

from __future__ import annotations

import io
import json
import logging
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import prunedbpe
from prunedbpe._support import progress_stages
from prunedbpe._support.progress import (
    SILENT,
    JsonProgress,
    Progress,
    as_progress,
    default_progress,
)
from prunedbpe._support.progress_stages import RecordedProgress, Stage
from prunedbpe._support.progress_views import (
    BarProgress,
    LogProgress,
    NotebookProgress,
    describe,
)
from prunedbpe.errors import SettingsError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that the test winds on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(progress_stages.time, "monotonic", lambda: self.now)


def run_twice(progress: Progress, clock: Clock | None = None) -> None:
    """Two tasks of one stage: half a megabyte on disk, which is two megabytes of text."""
    for _ in range(2):
        with progress.task("Counting", total=500_000, unit="bytes") as task:
            for _ in range(5):
                if clock is not None:
                    clock.now += 10
                task.advance(100_000, text_bytes=400_000)


def test_json_lines_end_with_a_finished_event() -> None:
    stream = io.StringIO()
    with JsonProgress(stream).task("Counting", total=10, unit="bytes") as task:
        task.advance(4, text_bytes=8)
        task.advance(6, text_bytes=12)
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert events[-1].pop("seconds") >= 0
    assert events == [
        {
            "task": "Counting",
            "unit": "bytes",
            "total": 10,
            "done": 10,
            "text_bytes": 20,
            "finished": True,
        }
    ]


def test_json_of_work_that_fails() -> None:
    stream = io.StringIO()
    with (
        pytest.raises(RuntimeError),
        JsonProgress(stream).task("Counting", total=None, unit="merges") as task,
    ):
        task.advance(4)
        raise RuntimeError
    event = json.loads(stream.getvalue())
    assert (event["done"], event["finished"], event["total"]) == (4, False, None)


def test_a_stage_is_the_sum_of_its_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    progress = RecordedProgress(SILENT)
    run_twice(progress, clock)
    clock.now += 500  # what happens between stages is not theirs
    [stage] = progress.stages.values()
    assert (stage.done, stage.total, stage.text_bytes) == (10**6, 10**6, 4 * 10**6)
    assert (stage.elapsed, stage.rate, stage.seconds_left) == (100, "40 kB/s", 0)


def test_the_share_is_of_the_disk_and_the_rate_is_of_the_text() -> None:
    stage = Stage("Counting", "bytes", total=1000, done=250, text_bytes=10**6, seconds=2)
    assert describe(stage) == "Counting: 25%, 1 MB of text, 500 kB/s, 6 s left"
    stage = Stage("Counting", "bytes", total=None, done=250, text_bytes=250, seconds=2)
    assert describe(stage) == "Counting: 250 B of text, 125 B/s"


def test_a_log_has_a_line_every_30_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    run_twice(LogProgress(), clock)
    assert capsys.readouterr().err.splitlines() == [
        "Counting: 60%, 1.2 MB of text, 40 kB/s, 20 s left",
        "Counting: 60%, 2.4 MB of text, 40 kB/s, 40 s left",
        "Counting: 90%, 3.6 MB of text, 40 kB/s, 10 s left",
    ]
    run_twice(LogProgress())
    assert not capsys.readouterr().err


@pytest.mark.parametrize("unit", ["bytes", "merges"])
@pytest.mark.parametrize("total", [None, 10])
def test_bars_are_drawn_on_standard_error_and_removed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, unit: str, total: int
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    progress = BarProgress()
    with progress.task("Counting", total=total, unit=unit) as task:
        task.advance(10)
        with progress.task("Inner", total=total, unit=unit) as inner:
            inner.advance(5)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Counting" in captured.err and "Inner" in captured.err
    assert "\x1b[2K" in captured.err[-20:]  # the line is erased at the end


class Displayed:
    """What IPython's ``display`` shows below a cell."""

    def __init__(self) -> None:
        self.bars: list[Any] = []

    def display(self, bar: Any, *, display_id: bool) -> SimpleNamespace:
        assert display_id
        place = len(self.bars)
        self.bars.append(bar)
        return SimpleNamespace(update=lambda bar: self.bars.__setitem__(place, bar))


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Displayed:
    """Pretend to be the kernel of a notebook."""
    shown = Displayed()
    ipython: Any = ModuleType("IPython")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    display: Any = ModuleType("IPython.display")
    display.display = shown.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_a_notebook_has_one_bar_for_each_stage(notebook: Displayed) -> None:
    texts = ["the cat in the hat", "that hat"] * 5
    prunedbpe.train(texts, vocab_size=262, threshold="40%")
    assert [repr(bar).split(":")[0] for bar in notebook.bars] == ["Counting", "Learning"]
    markup = notebook.bars[1]._repr_html_()
    assert markup.startswith('<progress max="1" value="1.0000"') and "merges" in markup
    prunedbpe.train(texts, vocab_size=262, threshold="40%", progress=False)
    assert len(notebook.bars) == 2


def test_what_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(default_progress(), LogProgress)
    assert isinstance(as_progress(True), LogProgress)
    assert as_progress(None) is as_progress(False) is SILENT
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(default_progress(), BarProgress)
    assert default_progress(quiet=True) is as_progress(None) is SILENT
    given = JsonProgress()
    assert as_progress(given) is given
    with SILENT.task("Counting", total=1, unit="bytes") as task:
        task.advance(1)


def test_what_is_chosen_in_a_notebook(notebook: Displayed) -> None:
    assert isinstance(as_progress(None), NotebookProgress)
    assert isinstance(as_progress(True), NotebookProgress)
    assert as_progress(False) is SILENT


def test_what_is_no_reporter() -> None:
    with pytest.raises(SettingsError, match=r"progress is 'yes'\nhint: give True, False"):
        prunedbpe.train(["text"], vocab_size=261, progress="yes")  # type: ignore[arg-type]


def test_a_recorded_stage_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "prunedbpe"):
        run_twice(RecordedProgress(SILENT))
    assert caplog.messages[1].startswith("Counting: 4 MB of text in 0.")
