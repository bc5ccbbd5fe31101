"""Options of every verb: how it is shown and recorded, and files that hold its other options.

``main`` lists them and adds them to each verb that it loads, so a verb does not declare them.
"""

from __future__ import annotations

import logging
import platform
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from prunedbpe.cli import terminal

DEBUG = "debug"
"""Key of the context: whether to show the traceback of an unexpected error."""

_CONFIG = "config"
_SAVE = "save_config"
_LOG = "log_file"


def _set_debug(ctx: typer.Context, value: bool) -> None:
    if value:
        ctx.meta[DEBUG] = True


def _set_verbose(value: bool) -> None:
    if value and not terminal.look.verbose:
        terminal.look.verbose = True
        logging.getLogger("prunedbpe").setLevel(logging.DEBUG)


def _set_wide(value: bool) -> None:
    terminal.look.wide = terminal.look.wide or value


def _set_log_file(ctx: typer.Context, value: Path | None) -> None:
    if value is None or ctx.meta.get(_LOG) is not None:
        return
    value.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(value, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    terminal.messages.addHandler(handler)
    logging.getLogger("prunedbpe").setLevel(logging.DEBUG)
    ctx.meta[_LOG] = value
    python = f"Python {platform.python_version()}, {platform.platform()}"
    terminal.messages.info("prunedbpe %s (%s)", shlex.join(sys.argv[1:]), python)


def close_log_files(code: int, seconds: float) -> None:
    """Write how the command ended, and close what ``--log-file`` opened."""
    terminal.messages.info("ended with exit code %d after %.1f s", code, seconds)
    logging.getLogger("prunedbpe").setLevel(logging.NOTSET)
    for handler in list(terminal.messages.handlers):
        if isinstance(handler, logging.FileHandler):
            terminal.messages.removeHandler(handler)
            handler.close()


def _read_config(ctx: typer.Context, value: Path | None) -> None:
    if ctx.parent is None:  # before the verb, which is not known yet
        ctx.meta[_CONFIG] = value
        return
    path = value or ctx.meta.get(_CONFIG)
    if path is not None:
        from prunedbpe.cli.config import read_config

        ctx.default_map = read_config(path, str(ctx.info_name), ctx.command.params)


def _save_config(ctx: typer.Context, value: Path | None) -> None:
    if value is not None:
        ctx.meta[_SAVE] = value


def common_options(
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
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Also show what each step did, and how long it took.",
            callback=_set_verbose,
            expose_value=False,
        ),
    ] = False,
    wide: Annotated[
        bool,
        typer.Option(
            "--wide",
            help="Show all columns of a table, however wide.",
            callback=_set_wide,
            expose_value=False,
        ),
    ] = False,
    log_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Append messages and times to a file.",
            callback=_set_log_file,
            expose_value=False,
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Take options from a TOML file; those of the command line have precedence.",
            callback=_read_config,
            expose_value=False,
            is_eager=True,
            show_default=False,
        ),
    ] = None,
    save_config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write all options of this command to a TOML file for --config.",
            callback=_save_config,
            expose_value=False,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Only its parameters matter."""


def parameters() -> list[Any]:
    """Return the common options as click knows them."""
    app = typer.Typer(add_completion=False, context_settings={"help_option_names": []})
    app.command()(common_options)
    return [param for param in typer.main.get_command(app).params if param.name != "help"]


class Verb(TyperCommand):
    """A verb with its options known: saves them, and notes whether a program reads the result."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        terminal.look.json = bool(ctx.params.get("as_json"))
        path = ctx.meta.get(_SAVE)
        if path is not None:
            from prunedbpe._support.atomic_files import atomic_write
            from prunedbpe.cli.config import as_toml

            values = {**ctx.params, "log_file": ctx.meta.get(_LOG), "wide": terminal.look.wide}
            values |= {"verbose": terminal.look.verbose, DEBUG: bool(ctx.meta.get(DEBUG))}
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as file:
                file.write(as_toml(str(ctx.info_name), self.params, values).encode())
            terminal.info(f"options written to {path}")
        return super().invoke(ctx)
