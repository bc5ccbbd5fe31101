"""How a command ends: every exception becomes a message and an exit code, never a traceback.

==== =======================================================================
0    done; also when the reader of a pipe has seen enough (``| head``)
1    an error, told with what can be done about it
2    the command line makes no sense: an unknown verb or option, a missing value
130  interrupted with Ctrl-C; checkpoints are kept
==== =======================================================================
"""

from __future__ import annotations

import io
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import typer

from prunedbpe.cli.messages import MessageHandler, say
from prunedbpe.errors import PrunedBPEError

DEBUG = "prunedbpe.debug"
"""Set in the metadata of the context where ``--debug`` is given."""

DEBUG_VARIABLE = "PRUNEDBPE_DEBUG"
"""The same as an environment variable, for who cannot change the command."""

# What the parser raises; where the class lives differs between versions of typer.
_UsageError: Any = typer.BadParameter.__base__


class ExitCode(IntEnum):
    """What the shell gets to see."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    INTERRUPTED = 130


class InterruptedWork(Exception):  # noqa: N818 - no error: the user asked for it
    """Raised in place of KeyboardInterrupt by whoever knows how the work can go on."""


def run(command: Any, arguments: Sequence[str], program: str = "prunedbpe") -> int:
    """Run a command and tell how it ended.

    Args:
        command: What typer made of the app.
        arguments: The words after the program's name.
        program: How usage messages call it.

    Returns:
        The exit code.
    """
    _survive_any_character()
    handler = MessageHandler()
    logger = logging.getLogger("prunedbpe")
    logger.addHandler(handler)
    try:
        return _run(command, list(arguments), program)
    finally:
        logger.removeHandler(handler)


def _run(command: Any, arguments: list[str], program: str) -> int:
    debug = os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0")
    context = None
    try:
        with command.make_context(program, arguments) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as exit_:
        return int(exit_.exit_code)
    except _UsageError as error:
        return _tell_usage(error, arguments)
    except (KeyboardInterrupt, typer.Abort, InterruptedWork) as error:
        return _tell_interrupted(error)
    except BrokenPipeError:
        _close_stdout()
    except Exception as error:
        if debug or (context is not None and context.meta.get(DEBUG)):
            traceback.print_exc()
        return _tell_error(error)
    return ExitCode.DONE


def _tell_usage(error: Any, arguments: list[str]) -> int:
    context = getattr(error, "ctx", None)
    if not arguments and context is not None:  # who knows no verb yet is best served by the list
        sys.stderr.write(f"{context.get_help()}\n")
        return ExitCode.USAGE
    say("error", error.format_message())
    if context is not None:
        say("hint", f"see {context.command_path} --help")
    return ExitCode.USAGE


def _tell_interrupted(error: BaseException) -> int:
    sys.stderr.write("\n")  # behind the ^C of the terminal
    say("error", "interrupted")
    if isinstance(error, InterruptedWork):
        say("hint", str(error))
    return ExitCode.INTERRUPTED


def _tell_error(error: Exception) -> int:
    if isinstance(error, PrunedBPEError):
        say("error", error.message)
        if error.hint:
            say("hint", error.hint)
    elif isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        say("error", f"{place}{error.strerror}")
    elif isinstance(error, MemoryError):
        say("error", "out of memory")
        say("hint", "count the corpus in shards, or learn on a machine with more memory")
    else:
        first_line = str(error).partition("\n")[0]
        say("error", f"unexpected {type(error).__name__}: {first_line}")
        say("hint", "this is a defect of prunedbpe; run it again with --debug to see where")
    return ExitCode.ERROR


def _survive_any_character() -> None:
    """Names and tokens may hold what a terminal's encoding, or UTF-8 itself, cannot express."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _close_stdout() -> None:
    """Keep the interpreter from flushing into the closed pipe when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
