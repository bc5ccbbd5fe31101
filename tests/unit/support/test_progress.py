"""Progress in its three modes."""

from __future__ import annotations

import io
import json
import sys

import pytest

from prunedbpe._support.progress import SILENT, BarProgress, JsonProgress, default_progress


def test_json_lines_end_with_a_finished_event() -> None:
    stream = io.StringIO()
    with JsonProgress(stream).task("Counting", total=10, unit="bytes") as task:
        task.advance(4)
        task.advance(6)
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert events[-1].pop("seconds") >= 0
    assert events == [
        {"task": "Counting", "unit": "bytes", "total": 10, "done": 10, "finished": True}
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


@pytest.mark.parametrize("unit", ["bytes", "merges"])
@pytest.mark.parametrize("total", [None, 10])
def test_bar_goes_to_standard_error(
    capsys: pytest.CaptureFixture[str], unit: str, total: int | None
) -> None:
    with BarProgress().task("Counting", total=total, unit=unit) as task:
        task.advance(10)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Counting" in captured.err


def test_default_is_silent_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert default_progress() is SILENT
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(default_progress(), BarProgress)
    assert default_progress(quiet=True) is SILENT
    with SILENT.task("Counting", total=1, unit="bytes") as task:
        task.advance(1)
