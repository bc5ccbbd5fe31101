"""``prunedbpe help``: a verb -> its help, or its options as JSON."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from prunedbpe.cli import main
from prunedbpe.cli.terminal import print_json, print_line
from prunedbpe.types import Settings


def command(
    ctx: typer.Context,
    verb: Annotated[
        str | None, typer.Argument(metavar="VERB", help="The verb.", show_default=False)
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the verbs, or the options of one, as JSON.")
    ] = False,
) -> None:
    """Show the help of a verb.

    \b
    prunedbpe help train
    """
    if verb is None:
        if as_json:
            print_json(main.VERBS)
        else:
            assert ctx.parent is not None
            print_line(ctx.parent.get_help())
        return
    if verb not in main.VERBS:
        raise typer.BadParameter(f"there is no verb {verb!r}; use {', '.join(main.VERBS)}")
    found: Any = main.load_verb(verb)
    context = found.make_context(verb, [], parent=ctx.parent, resilient_parsing=True)
    if as_json:
        print_json({"verb": verb, "options": [_describe(param) for param in found.params]})
    else:
        print_line(found.get_help(context))


def _describe(param: Any) -> Settings:
    """Return an option or argument as JSON."""
    is_argument = param.param_type_name == "argument"
    choices = getattr(param.type, "choices", None)
    default = None if callable(param.default) else param.default
    return {
        "name": param.name,
        "flags": [] if is_argument else [*param.opts, *param.secondary_opts],
        "required": param.required,
        "repeatable": param.nargs == -1 or getattr(param, "multiple", False),
        "choices": None if choices is None else [str(choice) for choice in choices],
        "default": default if isinstance(default, (bool, int, float)) else _text(default),
        "help": getattr(param, "help", None) or "",
    }


def _text(default: Any) -> str | None:
    if default is None or isinstance(default, (list, tuple)):
        return None
    value = getattr(default, "value", default)
    return value if isinstance(value, str) else None
