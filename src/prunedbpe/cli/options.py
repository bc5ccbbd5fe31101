"""Options that several verbs share, and what they become.

Each is an annotated type, so that a verb says ``threads: Threads = None`` and help texts are
written once. Nothing heavy is imported here before an option is used.
"""

from __future__ import annotations

import atexit
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prunedbpe.errors import SettingsError

if TYPE_CHECKING:
    from prunedbpe._support.progress import Progress
    from prunedbpe.corpus import Shard


class ProgressMode(str, Enum):
    """How progress is shown on standard error."""

    BAR = "bar"
    JSON = "json"
    NONE = "none"


Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS",
        help="Files and folders, '-' for standard input. Lines of .txt .log .html are documents, "
        ".jsonl and .parquet have a text field, .gz .zst .xz .bz2 are unpacked.",
        show_default=False,
    ),
]
TokenizerFolder = Annotated[
    Path,
    typer.Argument(metavar="TOKENIZER", help="The folder of a tokenizer.", show_default=False),
]
TextField = Annotated[str, typer.Option(help="Text field of .jsonl and .parquet files.")]
Nfc = Annotated[bool, typer.Option("--nfc", help="Bring text to Unicode normal form C.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Make a file that is not UTF-8 an error, not a warning.")
]
PretokenizerName = Annotated[
    str,
    typer.Option(
        metavar="NAME|REGEX",
        help="paper, reference, gpt2, cl100k, o200k, none, or a regular expression.",
    ),
]
OriginalPretokenizer = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|REGEX",
        help="How the original cuts text, where its files do not say.",
        show_default=False,
    ),
]
VocabSize = Annotated[
    int,
    typer.Option(
        help="All a model sees: bytes, visible tokens, special tokens.", show_default=False
    ),
]
ThresholdText = Annotated[
    str,
    typer.Option(
        "--threshold",
        metavar="THRESHOLD",
        help="40% of the boundary token's frequency, a count such as 750, 0 for Standard BPE, "
        "or auto.",
    ),
]
Validation = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH",
        help="With auto: choose by the encoded length of this text; repeat for more.",
        show_default=False,
    ),
]
CandidateRatio = Annotated[
    float,
    typer.Option(min=1.0, help="With auto: merges to retain per visible learned token."),
]
SpecialTokens = Annotated[
    list[str] | None,
    typer.Option(
        "--special-token",
        metavar="TEXT",
        help="A reserved token; repeat for more. Replaces <_EOS_> <_SOS_> <_SEP_> <_PAD_>.",
        show_default=False,
    ),
]
NoSpecialTokens = Annotated[
    bool, typer.Option("--no-special-tokens", help="Reserve no token at all.")
]
MaxTrainVocab = Annotated[
    int | None, typer.Option(help="Upper bound of bytes and learned tokens.", show_default=False)
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, help="One per core by default; never changes the result."),
]
CheckpointSeconds = Annotated[float, typer.Option(min=0, help="Seconds between two checkpoints.")]
CheckpointAt = Annotated[
    list[int] | None,
    typer.Option(
        metavar="SIZE",
        help="Vocabulary size at which to save as well; repeat for more.",
        show_default=False,
    ),
]
ProgressOption = Annotated[
    ProgressMode | None,
    typer.Option(help="How to show progress; a bar if standard error is a terminal."),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No bar and no summary; warnings and errors stay.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def choose_progress(mode: ProgressMode | None, *, quiet: bool) -> Progress:
    """Who watches the work; a mode that was asked for counts more than ``quiet``."""
    from prunedbpe._support.progress import SILENT, BarProgress, JsonProgress, default_progress

    if mode is ProgressMode.BAR:
        return BarProgress()
    if mode is ProgressMode.JSON:
        return JsonProgress()
    return SILENT if mode is ProgressMode.NONE else default_progress(quiet=quiet)


def choose_special_tokens(given: list[str] | None, *, none: bool) -> tuple[str, ...]:
    """The reserved tokens: those given, none, or the paper's."""
    from prunedbpe.types import DEFAULT_SPECIAL_TOKENS

    if none and given:
        raise SettingsError(
            "--special-token and --no-special-tokens are given together", hint="leave out one"
        )
    return () if none else tuple(given or DEFAULT_SPECIAL_TOKENS)


def parse_shard(text: str) -> Shard:
    """Read a shard as ``index/count``.

    >>> parse_shard("2/8")
    Shard(index=2, count=8)
    """
    from prunedbpe.corpus import Shard

    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal()):
        raise SettingsError(
            f"shard {text!r} is not of the form INDEX/COUNT", hint="the shards of 8 are 0/8 to 7/8"
        )
    return Shard(int(index), int(count))


def prepare_folder(folder: Path) -> None:
    """Make the output folder now: nobody wants to learn after hours that it cannot be made."""
    if folder.is_dir():
        return
    if folder.exists():
        raise SettingsError(f"{folder}: a file is in the way", hint="give another output folder")
    folder.mkdir(parents=True, exist_ok=True)
    atexit.register(_remove_if_empty, folder)


def _remove_if_empty(folder: Path) -> None:
    """A command that fails leaves no folder behind that was made for its output."""
    with suppress(OSError):
        folder.rmdir()


def prepare_file(path: Path) -> None:
    """Make the folder of an output file, and refuse a folder in its place."""
    if path.is_dir():
        raise SettingsError(f"{path}: is a folder", hint=f"give a file, such as {path / 'out'}")
    path.parent.mkdir(parents=True, exist_ok=True)
