"""``prunedbpe import``: a tokenizer of another library -> a folder of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from prunedbpe.cli import options
from prunedbpe.cli.messages import tell_facts


def command(
    original: Annotated[
        Path,
        typer.Argument(
            metavar="ORIGINAL",
            help="tokenizer.json, a .tiktoken rank file, or a folder with one of them, with "
            "vocab.json and merges.txt, or with vocab.txt and inter_vocab.txt.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to write.", show_default=False)
    ],
    pretokenizer: options.OriginalPretokenizer = None,
    special_token: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT=ID",
            help="Special token of a rank file, and its id; repeat for more.",
            show_default=False,
        ),
    ] = None,
    unicode_version: Annotated[
        str | None,
        typer.Option(
            help="Unicode version of the library to be equal to; 16.0.0 by default.",
            show_default=False,
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Take over a tokenizer of Hugging Face, tiktoken or the paper.

    Encodes with the original's ids, equal on every text, or refuses and names what it does not
    support.

    \b
    prunedbpe import tokenizer.json -o gpt2
    prunedbpe import ranks.tiktoken --pretokenizer cl100k --special-token "<|end|>=100257" -o tok
    """
    from prunedbpe.exchange.importing import import_tokenizer

    how: dict[str, Any] = {}
    if pretokenizer is not None:
        how["pretokenizer"] = pretokenizer
    if special_token:
        how["special_tokens"] = dict(_special(text) for text in special_token)
    if unicode_version is not None:
        how["unicode_version"] = unicode_version
    tok = import_tokenizer(original, **how)
    options.prepare_folder(output)
    tok.save(output)
    if not quiet:
        facts = [
            ("vocabulary", f"{tok.vocab_size:,}"),
            ("merges", f"{len(tok.vocabulary.pairs):,}"),
            ("special tokens", f"{len(tok.special_tokens):,}"),
            ("pretokenizer", tok.pretokenizer.pattern or tok.pretokenizer.name),
        ]
        unmergeable = getattr(tok.vocabulary, "unmergeable", ())
        if unmergeable:
            facts.append(("tokens no merge makes", f"{len(unmergeable):,}"))
        tell_facts([*facts, ("written to", str(output))])


def _special(text: str) -> tuple[str, int]:
    from prunedbpe.errors import SettingsError

    name, _, token_id = text.rpartition("=")
    if not name or not token_id.isdecimal():
        raise SettingsError(
            f"special token {text!r} is not of the form TEXT=ID", hint="as in '<|end|>=100257'"
        )
    return name, int(token_id)
