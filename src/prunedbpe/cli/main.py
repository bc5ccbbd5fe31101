"""The app: the list of verbs, and the exit code of every outcome.

A verb is loaded when it is called, so ``--help`` does not import the library. To add one, write
``cli/<verb>.py`` with a function ``command`` and add a line to ``VERBS``.

==== ==================================================================================
0    success; also if the reader of a pipe closes it early (``| head``)
1    an error, with a hint on how to fix it
2    wrong usage: an unknown verb or option, a missing value
130  interrupted with Ctrl-C; checkpoints are kept
==== ==================================================================================
"""

from __future__ import annotations

import importlib
import io
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from enum import IntEnum
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from prunedbpe.cli import entry, terminal
from prunedbpe.cli.streams import OUTPUT_NAME, discard_output
from prunedbpe.errors import PrunedBPEError

VERBS = {
    "train": "Train a tokenizer on a corpus.",
    "count": "Count the chunks of a corpus or of one shard.",
    "learn": "Learn merges from chunk counts.",
    "prune": "Make a tokenizer of any size from learned merges.",
    "sweep": "Compare vocabulary sizes and thresholds from one run.",
    "encode": "Encode documents as token ids.",
    "decode": "Decode token ids.",
    "inspect": "Show a tokenizer, one of its tokens, or its internal tokens.",
    "evaluate": "Compare tokenizers on corpora: encoded length and token usage.",
    "explore": "Write a page to explore a tokenizer in the browser.",
    "audit": "Report which tokens a text uses, and what the others cost.",
    "import": "Convert a Hugging Face, tiktoken or paper tokenizer.",
    "export": "Export a tokenizer to another format, exactly or not at all.",
    "paper": "Run the paper's study on two corpora and write a report.",
}
"""What ``prunedbpe --help`` lists, in pipeline order."""

DEBUG_VARIABLE = "PRUNEDBPE_DEBUG"
"""Environment variable with the effect of ``--debug``."""

_EPILOG = "Exit codes: 0 success, 1 error, 2 wrong usage, 130 interrupted (checkpoints are kept)."

_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}

# Raised by the parser; its module differs between versions of typer.
_UsageError: Any = typer.BadParameter.__base__


class ExitCode(IntEnum):
    """What the shell sees."""

    SUCCESS = 0
    ERROR = 1
    USAGE = 2
    INTERRUPTED = entry.INTERRUPTED


class _VerbGroup(TyperGroup):
    """Knows the name and summary of every verb, and loads the one that is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, summary in VERBS.items():
            self.add_command(TyperCommand(name=name, callback=None, help=summary))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Load the verb that ``args`` begin with."""
        name, _, rest = super().resolve_command(ctx, args)
        module = importlib.import_module(f"prunedbpe.cli.{name}")
        verb_app = typer.Typer(**_SETTINGS)
        verb_app.command(name, help=module.command.__doc__, epilog=_EPILOG)(module.command)
        verb = typer.main.get_command(verb_app)
        # Accept --debug before and after the verb.
        verb.params.extend(option for option in self.params if option.name == "debug")
        return name, verb, rest


app = typer.Typer(cls=_VerbGroup, epilog=_EPILOG, **_SETTINGS)


def _show_version(value: bool) -> None:
    if value:
        from prunedbpe import __version__  # reads the installed metadata, which takes 20 ms

        terminal.print_line(f"prunedbpe {__version__}")
        raise typer.Exit


def _set_debug(ctx: typer.Context, value: bool) -> None:
    if value:
        ctx.meta[DEBUG_VARIABLE] = True


@app.callback()
def _prunedbpe(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug",
            help="Show the traceback of an unexpected error.",
            callback=_set_debug,
            expose_value=False,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Train, prune and run byte-level BPE tokenizers.

    Every verb has its own help: prunedbpe train --help
    """


def run(arguments: Sequence[str]) -> int:
    """Run a command. Every exception becomes a message and an exit code.

    Args:
        arguments: The words after the program's name.

    Returns:
        The exit code.
    """
    # Paths and tokens may hold characters that the terminal's encoding cannot express.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    handler = terminal.MessageHandler()
    logger = logging.getLogger("prunedbpe")
    logger.addHandler(handler)
    try:
        return _run(list(arguments))
    finally:
        logger.removeHandler(handler)


def _run(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    debug = os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0")
    context = None
    code: int = ExitCode.SUCCESS
    try:
        try:
            with command.make_context("prunedbpe", arguments) as context:
                command.invoke(context)
        except typer.Exit as exit_:
            code = int(exit_.exit_code)
        sys.stdout.flush()
    except _UsageError as error:
        _report_usage(error, arguments)
        return ExitCode.USAGE
    except (KeyboardInterrupt, typer.Abort, terminal.Interrupted) as error:
        terminal.info("")  # ends the line on which the terminal echoes ^C
        terminal.error("interrupted")
        if isinstance(error, terminal.Interrupted):
            terminal.hint(str(error))
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        discard_output()
    except Exception as error:
        if debug or (context is not None and context.meta.get(DEBUG_VARIABLE)):
            traceback.print_exc()
        _report_error(error)
        if isinstance(error, OSError) and error.filename == OUTPUT_NAME:
            discard_output()
        return ExitCode.ERROR
    return code


def _report_usage(error: Any, arguments: list[str]) -> None:
    context = getattr(error, "ctx", None)
    if not arguments and context is not None:  # no verb: list them
        terminal.info(context.get_help())
        return
    terminal.error(error.format_message())
    if context is not None:
        terminal.hint(f"see {context.command_path} --help")


def _report_error(error: Exception) -> None:
    if isinstance(error, PrunedBPEError):
        terminal.error(error.message)
        if error.hint:
            terminal.hint(error.hint)
    elif isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        terminal.error(f"{place}{error.strerror}")
    elif isinstance(error, MemoryError):
        terminal.error("out of memory")
        terminal.hint("count the corpus in shards, or learn on a machine with more memory")
    else:
        first_line = str(error).partition("\n")[0]
        terminal.error(f"unexpected {type(error).__name__}: {first_line}")
        terminal.hint("this is a bug in prunedbpe; run again with --debug for the traceback")
