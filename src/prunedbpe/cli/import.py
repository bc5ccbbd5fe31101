"""``prunedbpe import``: a tokenizer of another library -> a tokenizer folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from prunedbpe.cli import options
from prunedbpe.cli.saving import write_tokenizer
from prunedbpe.cli.terminal import info_table, print_json
from prunedbpe.errors import SettingsError
from prunedbpe.exchange.importing import import_tokenizer
from prunedbpe.exchange.library_check import compare
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.imported import ImportedTokenizer


def command(
    original: Annotated[
        Path,
        typer.Argument(
            metavar="ORIGINAL",
            help="tokenizer.json, tekken.json, a .tiktoken rank file, or a folder with one of "
            "them, with vocab.json and merges.txt, or with vocab.txt and inter_vocab.txt; or the "
            "name of a repository on the Hugging Face Hub.",
            show_default=False,
        ),
    ],
    output: options.TokenizerOutput,
    pretokenizer: options.OriginalPretokenizer = None,
    special_token: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT=ID",
            help="A special token of a rank file and its id. Repeatable.",
            show_default=False,
        ),
    ] = None,
    unicode_version: Annotated[
        str | None,
        typer.Option(
            help="Unicode version of the original library; 16.0.0 by default.", show_default=False
        ),
    ] = None,
    check: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Compare with the original library, if it is installed, on N hard texts.",
        ),
    ] = 0,
    force: options.Force = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Convert a Hugging Face, tiktoken or paper tokenizer.

    The result encodes every text to the ids of the original. An original with unsupported features
    is refused, and the message names them.

    \b
    prunedbpe import tokenizer.json -o gpt2
    prunedbpe import ranks.tiktoken --pretokenizer cl100k \\
        --special-token "<|end|>=100257" -o tok
    """
    given: dict[str, Any] = {
        "pretokenizer": pretokenizer,
        "special_tokens": dict(map(_special, special_token)) if special_token else None,
        "unicode_version": unicode_version,
    }
    tok = import_tokenizer(original, **{name: v for name, v in given.items() if v is not None})
    compared = _compared(tok, original, check)
    options.prepare_folder(output)
    write_tokenizer(tok, output, force=force)
    unmergeable = getattr(tok.vocabulary, "unmergeable", ())
    if as_json:
        print_json(
            {
                "output": str(output),
                "vocab_size": tok.vocab_size,
                "segmentation": tok.segmentation,
                "merges": len(tok.vocabulary.pairs),
                "special_tokens": tok.special_tokens,
                "pretokenizer": tok.pretokenizer.describe(),
                "tokens_without_merge": len(unmergeable),
            }
        )
    if not quiet:
        facts = [
            ("vocabulary", f"{tok.vocab_size:,}"),
            ("segmentation", tok.segmentation),
            ("merges", f"{len(tok.vocabulary.pairs):,}"),
            ("special tokens", f"{len(tok.special_tokens):,}"),
            ("pretokenizer", tok.pretokenizer.pattern or tok.pretokenizer.name),
        ]
        if unmergeable:
            facts.append(("tokens without a merge", f"{len(unmergeable):,}"))
        if check:
            facts.append(("compared with the original", compared))
        info_table([*facts, ("written to", str(output))])


def _compared(tok: Tokenizer, original: Path, texts: int) -> str:
    """Compare with the original library; return the result in words."""
    if not texts or not isinstance(tok, ImportedTokenizer):
        return "no"
    file = original / tok.training["imported"].get("file", "") if original.is_dir() else original
    found = compare(tok, file, texts) if file.is_file() else None
    if found is None:
        return "no: its library is not installed, or the file is not local"
    return f"equal to {found.library} on {found.texts:,} texts"


def _special(text: str) -> tuple[str, int]:
    name, _, token_id = text.rpartition("=")
    if not name or not token_id.isdecimal():
        raise SettingsError(
            f"special token {text!r} is not of the form TEXT=ID", hint="as in '<|end|>=100257'"
        )
    return name, int(token_id)
