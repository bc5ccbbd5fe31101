"""The app: the list of verbs, each loaded from the file of its name when it is called.

A new verb is a file ``cli/<verb>.py`` with a function ``command`` and one line in ``VERBS``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from prunedbpe.cli.exits import DEBUG, run

VERBS = {
    "train": "Train a tokenizer: corpus to tokenizer, in one go.",
    "count": "Count the chunks of a corpus, or of a shard of it.",
    "learn": "Learn merges from chunk counts.",
    "prune": "Make a tokenizer of any size out of learned merges.",
    "sweep": "Compare sizes and thresholds on corpora, out of one run.",
    "encode": "Encode documents as token ids.",
    "decode": "Decode token ids.",
    "inspect": "Show a tokenizer, one of its tokens, or its internal tokens.",
    "evaluate": "Compare tokenizers on corpora: lengths, and how tokens are used.",
    "audit": "Say which tokens a text uses, and what the rest is worth.",
    "import": "Take over a tokenizer of Hugging Face, tiktoken or the paper.",
    "export": "Write a tokenizer for other libraries, exactly or not at all.",
    "paper": "Run the paper's study on two corpora and write a report.",
}
"""What ``prunedbpe --help`` lists, in the order of the pipeline."""

_EPILOG = "Exit codes: 0 done, 1 error, 2 wrong usage, 130 interrupted (checkpoints are kept)."

_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}


class _VerbGroup(TyperGroup):
    """Knows of every verb its name and summary, and loads the one that is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, summary in VERBS.items():
            self.add_command(TyperCommand(name=name, callback=None, help=summary))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the verb that ``args`` begin with."""
        name, _, rest = super().resolve_command(ctx, args)
        verb = _load_verb(str(name))
        # Nobody wants to remember which side of the verb --debug goes.
        verb.params.extend(option for option in self.params if option.name == "debug")
        return name, verb, rest


def _load_verb(name: str) -> Any:
    module = importlib.import_module(f"prunedbpe.cli.{name}")
    app = typer.Typer(**_SETTINGS)
    app.command(name, help=module.command.__doc__, epilog=_EPILOG)(module.command)
    return typer.main.get_command(app)


def _set_debug(ctx: typer.Context, value: bool) -> None:
    if value:
        ctx.meta[DEBUG] = True


app = typer.Typer(cls=_VerbGroup, epilog=_EPILOG, **_SETTINGS)


def _show_version(value: bool) -> None:
    if value:
        from prunedbpe import __version__

        typer.echo(f"prunedbpe {__version__}")
        raise typer.Exit


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
            help="Show where an unexpected error happened.",
            callback=_set_debug,
            expose_value=False,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Train, prune and run byte-level BPE tokenizers.

    Every verb has its own help: prunedbpe train --help
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave Python with its exit code."""
    sys.exit(run(typer.main.get_command(app), sys.argv[1:] if arguments is None else arguments))
