"""Options that several verbs share, and how they are parsed.

Each option is an annotated type: a verb declares ``threads: Threads = None``, and the help text is
written once, here.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from prunedbpe._support.memory import memory_budget
from prunedbpe._support.progress import SILENT, JsonProgress, Progress, default_progress
from prunedbpe._support.progress_stages import RecordedProgress
from prunedbpe._support.progress_views import BarProgress, LogProgress
from prunedbpe._support.sizes import parse_size
from prunedbpe.cli.terminal import warning
from prunedbpe.corpus import Corpus, Shard
from prunedbpe.counts.bounded import LEAST_MEMORY
from prunedbpe.counts.source_weights import parse_source_weights
from prunedbpe.errors import SettingsError
from prunedbpe.pretokenizers import Pretokenizer, find_pretokenizer
from prunedbpe.types import DEFAULT_SPECIAL_TOKENS, Segmentation
from prunedbpe.visibility.policy import VisibilityPolicy, is_auto
from prunedbpe.visibility.threshold import Threshold, required_tokens

_LIKELY_A_SHARE = 100
"""A count up to here may be a share without its %."""


class ProgressMode(str, Enum):
    """How progress is shown on standard error."""

    BAR = "bar"
    LOG = "log"
    JSON = "json"
    NONE = "none"


class SourceMode(str, Enum):
    """What counts as one source of the corpus."""

    FILES = "files"
    FOLDERS = "folders"
    CORPUS = "corpus"


class SegmentationName(str, Enum):
    """How a chunk is cut into visible tokens."""

    RANK = "rank"
    SHORTEST = "shortest"


class EngineName(str, Enum):
    """What runs the work, if not this machine alone."""

    RAY = "ray"


Engine = Annotated[
    EngineName | None,
    typer.Option(help="Run on a cluster; needs its package.", show_default=False),
]

Address = Annotated[
    str | None,
    typer.Option(
        help="Of the cluster; by default as the environment says, or a new one on this machine.",
        show_default=False,
    ),
]

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="CORPUS...",
        help="Files, folders, quoted globs, URLs (s3://...), '-' for standard input. Each line of "
        ".txt .log .html is a document; .jsonl and .parquet have a text field; .gz .zst .xz .bz2 "
        "are decompressed.",
        show_default=False,
    ),
]
NamedCorpora = Annotated[
    list[str],
    typer.Option(
        "--corpus",
        metavar="[NAME=]PATH[,PATH...]",
        help="A corpus: files or folders, and its name if it is not that of the first. Repeatable.",
        show_default=False,
    ),
]
Merges = Annotated[
    Path,
    typer.Argument(
        metavar="RUN_DIR|MERGES",
        help="A run directory of `train --run-dir`, or the output of `learn`.",
        show_default=False,
    ),
]
TokenizerFolder = Annotated[
    Path,
    typer.Argument(metavar="TOKENIZER", help="Tokenizer folder.", show_default=False),
]
TokenizerOutput = Annotated[
    Path,
    typer.Option("--output", "-o", help="Tokenizer folder to write.", show_default=False),
]
TextField = Annotated[str, typer.Option(help="Text field of .jsonl and .parquet files.")]
Nfc = Annotated[bool, typer.Option("--nfc", help="Normalize text to Unicode NFC.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Fail on text that is not UTF-8 instead of skipping it.")
]
MAX_DOCUMENT = "1GB"
MaxDocument = Annotated[
    str,
    typer.Option(
        "--max-document", metavar="SIZE", help="Fail on a longer document: it must fit in memory."
    ),
]
PretokenizerName = Annotated[
    str,
    typer.Option(
        metavar="NAME|REGEX",
        help="paper, reference, gpt2, cl100k, llama3, qwen2, o200k, none, or a regular expression.",
    ),
]
OriginalPretokenizer = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|REGEX",
        help="The original's pretokenizer, if its files do not name it.",
        show_default=False,
    ),
]
MinChunkCount = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        help="Approximate: drop chunks that occur fewer than N times before learning.",
    ),
]
VocabSize = Annotated[
    int,
    typer.Option(
        help="Everything a model sees: bytes, visible tokens, special tokens.", show_default=False
    ),
]
ThresholdText = Annotated[
    str,
    typer.Option(
        "--threshold",
        metavar="THRESHOLD",
        help="A share of the boundary frequency such as 40% or 0.4, a count such as 750, 0 for "
        "Standard BPE, or auto.",
    ),
]
Validation = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH",
        help="With auto: text whose encoded length decides. Repeatable.",
        show_default=False,
    ),
]
CandidateRatio = Annotated[
    float | None,
    typer.Option(
        min=1.0,
        help="With auto: merges to choose from, per visible learned token; 1.8 by rank, 2.5 for "
        "the shortest segmentation.",
        show_default=False,
    ),
]
TrustCorpus = Annotated[
    bool,
    typer.Option(
        "--trust-corpus",
        help="With auto: text to come is just like the corpus. Shorter there, maybe longer "
        "elsewhere.",
    ),
]
TrainedSegmentation = Annotated[
    SegmentationName,
    typer.Option(
        "--segmentation",
        help="How the tokenizer cuts text: merge by rank, or into the fewest tokens. Auto chooses "
        "the tokens for it.",
    ),
]
Sources = Annotated[SourceMode, typer.Option(help="With auto: what counts as one source.")]
SegmentationOption = Annotated[
    SegmentationName | None,
    typer.Option(
        "--segmentation",
        help="Merge chunks by rank, or cut them into the fewest visible tokens.",
        show_default=False,
    ),
]
Bound = Annotated[
    bool,
    typer.Option(
        "--bound",
        help="Also prove how few tokens any vocabulary needs; takes minutes on a large corpus.",
    ),
]
SourceField = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="With auto: field of .jsonl and .parquet files that names a document's source.",
        show_default=False,
    ),
]
SourceWeights = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="With auto: how much sources matter; JSON, or lines of name, tab, weight.",
        show_default=False,
    ),
]
SpecialTokens = Annotated[
    list[str] | None,
    typer.Option(
        "--special-token",
        metavar="TEXT",
        help="A reserved token. Repeatable; replaces <_EOS_> <_SOS_> <_SEP_> <_PAD_>.",
        show_default=False,
    ),
]
NoSpecialTokens = Annotated[
    bool, typer.Option("--no-special-tokens", help="Reserve no special token.")
]
MaxTrainVocab = Annotated[
    int | None, typer.Option(help="Upper bound of bytes and learned tokens.", show_default=False)
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, help="One per core by default; never changes the result."),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory for counting, such as 4GB; half of the machine's by default. What does not "
        "fit goes to disk; never changes the result.",
        show_default=False,
    ),
]
CheckpointSeconds = Annotated[float, typer.Option(min=0, help="Seconds between checkpoints.")]
CheckpointAt = Annotated[
    list[int] | None,
    typer.Option(
        metavar="SIZE",
        help="Also write a checkpoint at this vocabulary size. Repeatable.",
        show_default=False,
    ),
]
ProgressOption = Annotated[
    ProgressMode | None,
    typer.Option(
        help="How to show progress: a bar on a terminal, otherwise a plain line every 30 s (log)."
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace another tokenizer in the output folder.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no summary; warnings remain.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def choose_progress(mode: ProgressMode | None, *, quiet: bool) -> RecordedProgress:
    """Return the progress reporter; an explicit mode overrides ``quiet``."""
    shown: Progress
    if mode is ProgressMode.BAR:
        shown = BarProgress()
    elif mode is ProgressMode.LOG:
        shown = LogProgress()
    elif mode is ProgressMode.JSON:
        shown = JsonProgress()
    else:
        shown = SILENT if mode is ProgressMode.NONE else default_progress(quiet=quiet)
    return RecordedProgress(shown)


@contextmanager
def wrong_usage(option: str) -> Iterator[None]:
    """Turn an impossible value into an error of usage that names the option."""
    try:
        yield
    except SettingsError as error:
        text = error.message if error.hint is None else f"{error.message}; {error.hint}"
        raise typer.BadParameter(text, param_hint=option) from None


def memory_to_count(memory: str | None) -> int:
    """Return the bytes that ``--memory`` allows, or its default."""
    with wrong_usage("--memory"):
        return memory_budget(memory, LEAST_MEMORY)


def check_threshold(text: str) -> str:
    """Return a threshold that is possible; warn of a count that may be meant as a share."""
    if is_auto(text):
        return "auto"
    with wrong_usage("--threshold"):
        found = Threshold.parse(text)
    if found.count is not None and 0 < found.count <= _LIKELY_A_SHARE:
        warning(
            f"threshold {text} is a count: a visible token must occur {found.count} times; "
            f"for a share of the boundary frequency write {found.count}%"
        )
    elif found.ratio is not None and found.ratio > 1 and not text.strip().endswith("%"):
        warning(f"threshold {text} is a share: {found.text} of the boundary frequency")
    return found.text


def check_vocab_size(vocab_size: int, special_tokens: tuple[str, ...]) -> None:
    """Refuse a size that has no room for the bytes and special tokens."""
    with wrong_usage("--vocab-size"):
        required_tokens(vocab_size, special_tokens)


def choose_pretokenizer(name: str, *, nfc: bool) -> Pretokenizer:
    """Return the pretokenizer of a name or regular expression."""
    with wrong_usage("--pretokenizer"):
        return find_pretokenizer(name, "NFC" if nfc else None)


def choose_policy(
    threshold: str,
    segmentation: SegmentationName,
    max_train_vocab: int | None = None,
    *,
    validation: list[str] | None = None,
    candidate_ratio: float | None = None,
    sources: SourceMode = SourceMode.FILES,
    source_weights: Path | None = None,
    trust_corpus: bool = False,
    **reading: Any,
) -> VisibilityPolicy:
    """Build the visibility policy; ``reading`` says how to read the validation text."""
    return VisibilityPolicy(
        check_threshold(threshold),
        max_train_vocab,
        segmentation.value,
        candidate_ratio,
        sources.value,
        source_weights=None if source_weights is None else parse_source_weights(source_weights),
        trust_corpus=trust_corpus,
        validation=Corpus(validation, **reading) if validation else None,
    )


def choose_segmentation(name: SegmentationName | None) -> Segmentation | None:
    """Return the segmentation of this name, or ``None`` if the option is not given."""
    return None if name is None else name.value


def choose_special_tokens(given: list[str] | None, *, none: bool) -> tuple[str, ...]:
    """Return the reserved tokens: the given ones, none, or the paper's."""
    if none and given:
        raise SettingsError(
            "--special-token and --no-special-tokens exclude each other", hint="give only one"
        )
    return () if none else tuple(given or DEFAULT_SPECIAL_TOKENS)


def parse_shard(text: str) -> Shard:
    """Parse ``index/count``.

    >>> parse_shard("2/8")
    Shard(index=2, count=8)
    """
    index, _, count = text.partition("/")
    with wrong_usage("--shard"):
        if not (index.isdecimal() and count.isdecimal()):
            raise SettingsError(
                f"{text!r} is not of the form INDEX/COUNT", hint="8 shards are 0/8 to 7/8"
            )
        return Shard(int(index), int(count))


def choose_reading(text_field: str, max_document: str, *, strict: bool = False) -> dict[str, Any]:
    """Return how to read documents, as keywords of :class:`~prunedbpe.corpus.Corpus`."""
    with wrong_usage("--max-document"):
        limit = parse_size(max_document, "the longest document")
    return {"text_field": text_field, "strict": strict, "max_document_bytes": limit}


def open_corpora(given: list[str], **reading: Any) -> dict[str, Corpus]:
    """Open corpora of the form ``[NAME=]PATH[,PATH...]``; a repeated ``NAME=`` adds paths."""
    named: dict[str, list[str]] = {}
    for text in given:
        name, equals, joined = text.partition("=") if "=" in text else ("", "", text)
        paths = [path for path in joined.split(",") if path]
        if not paths or (equals and not name):
            raise typer.BadParameter(
                f"{text!r} is not of the form NAME=PATH, for instance books=books/",
                param_hint="--corpus",
            )
        if not equals:
            name = Path(paths[0]).stem or paths[0]
            if name in named:
                raise typer.BadParameter(
                    f"two corpora are called {name}; name this one, for instance other={text}",
                    param_hint="--corpus",
                )
        named.setdefault(name, []).extend(paths)
    return {name: Corpus(paths, **reading) for name, paths in named.items()}


def prepare_folder(folder: Path) -> None:
    """Create the output folder before the work starts, so that a bad path fails early."""
    if folder.is_dir():
        return
    if folder.exists():
        raise SettingsError(f"{folder}: a file is in the way", hint="give another output folder")
    folder.mkdir(parents=True, exist_ok=True)
    atexit.register(_remove_if_empty, folder)


def _remove_if_empty(folder: Path) -> None:
    """Remove an output folder into which a failed command wrote nothing."""
    with suppress(OSError):
        folder.rmdir()


def prepare_file(path: Path) -> None:
    """Create the parent folder of an output file; refuse a folder in its place."""
    if path.is_dir():
        raise SettingsError(f"{path}: is a folder", hint=f"give a file, such as {path / 'out'}")
    path.parent.mkdir(parents=True, exist_ok=True)
