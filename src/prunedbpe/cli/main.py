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
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from enum import IntEnum
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from prunedbpe.cli import common, entry, terminal
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
    "doctor": "Check this installation: versions, CPU, memory, extras.",
    "help": "Show the help of a verb.",
}
"""What ``prunedbpe --help`` lists, in pipeline order."""

DEBUG_VARIABLE = "PRUNEDBPE_DEBUG"
"""Environment variable with the effect of ``--debug``."""

_COMPLETION_VARIABLE = "_PRUNEDBPE_COMPLETE"
"""Set by the shell when it asks how a command line may go on."""

_EPILOG = "Exit codes: 0 success, 1 error, 2 wrong usage, 130 interrupted (checkpoints are kept)."

_SETTINGS: dict[str, Any] = {
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
        return name, load_verb(str(name)), rest


def load_verb(name: str) -> TyperCommand:
    """Import a verb; its options come first, then the common ones."""
    module = importlib.import_module(f"prunedbpe.cli.{name}")
    verb_app = typer.Typer(add_completion=False, **_SETTINGS)
    verb_app.command(name, cls=common.Verb, help=module.command.__doc__, epilog=_EPILOG)(
        module.command
    )
    verb: Any = typer.main.get_command(verb_app)
    verb.params.extend(common.parameters())
    return verb  # type: ignore[no-any-return]


app = typer.Typer(cls=_VerbGroup, epilog=_EPILOG, **_SETTINGS)


def _show_version(value: bool) -> None:
    if value:
        from prunedbpe import __version__  # reads the installed metadata, which takes 20 ms

        terminal.print_line(f"prunedbpe {__version__}")
        raise typer.Exit


@app.callback()
def _prunedbpe(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Train, prune and run byte-level BPE tokenizers.

    Every verb has its own help: prunedbpe help train
    """


def load_app() -> Any:
    """Return the command with all its verbs and common options."""
    command: Any = typer.main.get_command(app)
    command.params.extend(common.parameters())
    return command


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
    terminal.look = terminal.Look()
    handler = terminal.MessageHandler()
    logger = logging.getLogger("prunedbpe")
    logger.addHandler(handler)
    started = time.monotonic()
    code: int = ExitCode.ERROR
    try:
        code = _run(list(arguments))
        return code
    finally:
        common.close_log_files(code, time.monotonic() - started)
        logger.removeHandler(handler)


_reported: dict[str, Any] = {}
"""The error of the running command: its type, message and hint."""


def _run(arguments: list[str]) -> int:
    _reported.clear()
    command = load_app()
    if _COMPLETION_VARIABLE in os.environ:
        command.main(arguments, "prunedbpe")  # prints what may follow, and exits
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
        code = ExitCode.USAGE
    except (KeyboardInterrupt, typer.Abort, terminal.Interrupted) as error:
        terminal.info("")  # ends the line on which the terminal echoes ^C
        hint = str(error) if isinstance(error, terminal.Interrupted) else None
        _report(error, "interrupted", hint)
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        discard_output()
    except Exception as error:
        if debug or (context is not None and context.meta.get(common.DEBUG)):
            traceback.print_exc()
        _report_error(error)
        code = ExitCode.ERROR
        if isinstance(error, OSError) and error.filename == OUTPUT_NAME:
            discard_output()
            return code
    if _reported and (terminal.look.json or _wants_json(arguments)):
        _print_reported(code)
    return code


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether the words ask for JSON, even if they could not be parsed."""
    words = list(arguments)
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _print_reported(code: int) -> None:
    """Write the error of this command as JSON to standard output, for the program that reads it."""
    with suppress(OSError):  # nobody may be reading any more
        terminal.print_json({"error": {**_reported, "exit_code": int(code)}})
        sys.stdout.flush()


def _report(error: BaseException, message: str, hint: str | None = None) -> None:
    """Show an error, and keep it for :func:`_print_reported`."""
    terminal.error(message)
    if hint:
        terminal.hint(hint)
    _reported.update(kind=type(error).__name__, message=message, hint=hint)


def _report_usage(error: Any, arguments: list[str]) -> None:
    context = getattr(error, "ctx", None)
    if not arguments and context is not None:  # no verb: list them
        terminal.info(context.get_help())
        return
    hint = None if context is None else f"see {context.command_path} --help"
    _report(error, error.format_message(), hint)


def _report_error(error: Exception) -> None:
    if isinstance(error, PrunedBPEError):
        _report(error, error.message, error.hint)
    elif isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        _report(error, f"{place}{error.strerror}")
    elif isinstance(error, MemoryError):
        remedy = "count the corpus in shards, or learn on a machine with more memory"
        _report(error, "out of memory", remedy)
    else:
        first_line = str(error).partition("\n")[0]
        remedy = "this is a bug in prunedbpe; run again with --debug for the traceback"
        _report(error, f"unexpected {type(error).__name__}: {first_line}", remedy)
