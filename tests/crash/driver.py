"""Runs commands in forked processes that the shim kills or disturbs; talks JSON lines.

Started by ``crash.harness`` with the shim preloaded. It imports the library once and then forks for
each request, so a kill point costs milliseconds. In: ``{"words", "folder", "mode", "call", "error",
"delay"}``. Out: ``{"code", "calls", "stderr"}``; the code is negative for a signal.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import tempfile
import time
from typing import Any

import prunedbpe.cli.main
from prunedbpe.cli.main import VERBS

for verb in VERBS:
    importlib.import_module(f"prunedbpe.cli.{verb}")
importlib.import_module("prunedbpe.encoded")
importlib.import_module("prunedbpe.tokenizer.imported")
importlib.import_module("prunedbpe._support.parquet")

SHIM = ctypes.CDLL(None)


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Fork, run a command, and report how it ended."""
    with tempfile.TemporaryFile() as messages, tempfile.TemporaryFile() as counted:
        child = os.fork()
        if child == 0:
            _run_child(request, messages.fileno(), counted.fileno())
        if request.get("delay") is not None:
            time.sleep(request["delay"])
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        messages.seek(0)
        counted.seek(0)
        return {
            "code": os.waitstatus_to_exitcode(status),
            "calls": int(counted.read() or 0),
            "stderr": messages.read().decode("utf-8", "replace"),
        }


def _run_child(request: dict[str, Any], messages: int, counted: int) -> None:
    code = 99
    try:
        os.dup2(messages, 2)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        arguments = (request["mode"], request.get("call", 0), request.get("error", 0))
        SHIM.crash_arm(os.fsencode(request["folder"]), *arguments)
        code = int(prunedbpe.cli.main.run(request["words"]))
        os.write(counted, b"%d" % SHIM.crash_calls())
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(json.loads(line))) + "\n")
        sys.stdout.flush()
