"""Where the command starts and ends: Ctrl-C at any moment is exit code 130, without a traceback.

Loading the command line takes longer than anything else at the start, so it happens in here.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command line and exit Python with its exit code."""
    try:
        from prunedbpe.cli.main import run
        from prunedbpe.cli.streams import guard_streams

        guard_streams()
        code = run(sys.argv[1:])
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: too late to interrupt it
    except KeyboardInterrupt:  # outside of a command, or a second one
        code = INTERRUPTED
    if code == INTERRUPTED:
        _leave_at_once(code)
    sys.exit(code)


def _leave_at_once(code: int) -> NoReturn:
    """End the process without waiting for its threads, which may be reading a file."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
