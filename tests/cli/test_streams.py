"""Standard streams that are closed, full, or read by nobody: named, and never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="streams are closed by a shell")


def run_shell(command: str, **folders: Path) -> subprocess.CompletedProcess[str]:
    words = {name: str(path) for name, path in folders.items()}
    program = command.format(p=f"{sys.executable} -m prunedbpe", **words)
    environment = {**os.environ, "NO_COLOR": "1"}
    command_line = ["bash", "-o", "pipefail", "-c", program]
    return subprocess.run(command_line, capture_output=True, text=True, env=environment)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("{p} --version >&-", "standard output: the stream is closed"),
        ("{p} encode {t} {c} >&-", "standard output: the stream is closed"),
        ("{p} inspect {t} --json >&-", "standard output: the stream is closed"),
        ("{p} encode {t} {c} >/dev/full", "standard output: No space left on device"),
        ("{p} inspect {t} --json >/dev/full", "standard output: No space left on device"),
        ("{p} decode {t} <&-", "standard input: the stream is closed"),
        ("{p} encode {t} <&-", "the stream is closed"),
    ],
)
def test_a_stream_that_cannot_be_used_is_named(command, message, corpus, trained):
    ended = run_shell(command, c=corpus / "a.txt", t=trained / "tok")
    assert ended.returncode == 1 and not ended.stdout
    assert ended.stderr.startswith("error: ") and message in ended.stderr
    assert "Traceback" not in ended.stderr and "Exception ignored" not in ended.stderr


@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full", "<&- >&- 2>&-", "2>&1 | true"])
def test_lost_messages_stop_no_work(closed, corpus, tmp_path):
    """No output file may take the place of a closed stream, either."""
    command = "{p} train {c} --vocab-size 300 --progress json -o {o} "
    ended = run_shell(command + closed, c=corpus / "a.txt", o=tmp_path / "tok")
    assert ended.returncode == 0 and not ended.stderr
    expected = run_shell(command + "-q", c=corpus / "a.txt", o=tmp_path / "expected")
    assert expected.returncode == 0
    for file in (tmp_path / "expected").iterdir():
        assert (tmp_path / "tok" / file.name).read_bytes() == file.read_bytes()


def test_an_error_nobody_reads_has_its_exit_code(trained, tmp_path):
    ended = run_shell("{p} encode {t} {x} 2>&-", t=trained / "tok", x=tmp_path / "none")
    assert ended.returncode == 1 and not ended.stderr


@pytest.mark.parametrize("command", ["--help", "--version", "inspect {t} --json"])
def test_a_pipe_that_nobody_reads_is_no_error(command, trained):
    ended = run_shell("{p} " + command + " | true", t=trained / "tok")
    assert ended.returncode == 0 and not ended.stderr


@pytest.mark.parametrize("delay", [0.05, 0.3, 0.8])
def test_ctrl_c_at_any_moment(tmp_path, delay):
    """The corpus is a pipe that nobody ends, so only the signal ends the command."""
    # The tests may run in the background, where the signal is ignored.
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from prunedbpe.cli.entry import main; sys.stderr.write('!'); main()"
    )
    words = ["count", "-", "-o", str(tmp_path / "counts.parquet"), "-q"]
    with subprocess.Popen(
        [sys.executable, "-c", program, *words], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        assert process.stderr.read(1) == b"!"  # Python has started
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        message = process.stderr.read().decode()
    assert process.returncode == 130
    assert "Traceback" not in message
    assert not list(tmp_path.iterdir())
