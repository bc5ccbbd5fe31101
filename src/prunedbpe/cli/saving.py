"""A tokenizer into a folder: never over another one without ``--force``, and with a summary."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

from prunedbpe._support.commit import finish_interrupted_commit
from prunedbpe._support.input_files import read_json
from prunedbpe.cli.summary import (
    Clock,
    Facts,
    approximation_facts,
    corpus_facts,
    length_facts,
    show_gains,
    visibility_facts,
)
from prunedbpe.cli.terminal import explain, info, info_table, print_json
from prunedbpe.corpus import CorpusReport
from prunedbpe.errors import SettingsError
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.tokenizer.folder import SETTINGS_FILE
from prunedbpe.visibility.policy import VisibilityPolicy


def check_output(
    folder: Path,
    *,
    force: bool,
    vocab_size: int | None = None,
    policy: VisibilityPolicy | None = None,
) -> None:
    """Refuse a folder that holds a tokenizer, before any work is done.

    Args:
        folder: The output.
        force: Whether to replace what is there.
        vocab_size: If given, a tokenizer of this size and policy passes: the same command may have
            written it. :func:`write_tokenizer` compares the bytes.
        policy: How that tokenizer chooses its visible tokens.

    Raises:
        SettingsError: It holds one, and ``force`` is not set.
    """
    path = folder / SETTINGS_FILE
    if force or not _is_there(folder):
        return
    if vocab_size is not None and policy is not None:
        found = read_json(path)
        training = found.get("training") or {}
        if (found.get("vocab_size"), found.get("segmentation"), training.get("threshold")) == (
            vocab_size,
            policy.segmentation,
            policy.name,
        ):
            return
    raise SettingsError(
        f"{folder}: holds a tokenizer already",
        hint="give another folder, or --force to replace it",
    )


def write_tokenizer(tokenizer: Tokenizer, folder: Path, *, force: bool) -> bool:
    """Save a tokenizer; one that is there must be the same, or be replaced on purpose.

    The same command can so be run again: what it has written before is no obstacle.

    Returns:
        Whether the tokenizer is new there.

    Raises:
        SettingsError: The folder holds another tokenizer, and ``force`` is not set.
    """
    is_same = _is_there(folder) and _is_same(tokenizer, folder)
    if not is_same:
        check_output(folder, force=force)
    tokenizer.save(folder)  # also removes what a process that was killed has left
    return not is_same


def _is_there(folder: Path) -> bool:
    """Whether the folder holds a tokenizer; a process killed while it saved one may have."""
    if folder.is_dir():
        finish_interrupted_commit(folder)
    return (folder / SETTINGS_FILE).exists()


def _is_same(tokenizer: Tokenizer, folder: Path) -> bool:
    """Whether saving would write the very bytes that are there."""
    with tempfile.TemporaryDirectory(prefix="prunedbpe-") as name:
        tokenizer.save(name)
        return all(
            (folder / path.name).is_file() and (folder / path.name).read_bytes() == data
            for path in Path(name).iterdir()
            for data in [path.read_bytes()]
        )


def save_tokenizer(
    tokenizer: Tokenizer,
    folder: Path,
    *,
    force: bool,
    quiet: bool,
    as_json: bool,
    clock: Clock,
    facts: Facts | None = None,
    run: Path | None = None,
) -> None:
    """Save a trained or pruned tokenizer and summarize it.

    Args:
        tokenizer: The tokenizer.
        folder: Where it goes.
        force: Whether to replace another tokenizer there.
        quiet: Whether to leave out the summary.
        as_json: Whether to print the settings of the tokenizer.
        clock: What the command took.
        facts: More facts of this command.
        run: The run directory, for what to do next.
    """
    is_new = write_tokenizer(tokenizer, folder, force=force)
    training = tokenizer.training
    if not quiet:
        rows = [
            *corpus_facts(CorpusReport.from_settings(training["corpus"])),
            *approximation_facts(training["min_chunk_count"]),
            ("vocabulary", _parts(tokenizer)),
            *visibility_facts(training),
            ("internal tokens", f"{tokenizer.vocabulary.internal_count:,}"),
            ("segmentation", tokenizer.segmentation),
            *length_facts(training),
            *clock.facts(),
            *(facts or []),
        ]
        info_table(rows)
        explain(name for name, _ in rows)
        show_gains(training)
        info("")
        info(f"tokenizer {'written to' if is_new else 'unchanged in'} {folder}")
        _say_what_next(tokenizer, folder, run)
    if as_json:
        print_json({**read_json(folder / SETTINGS_FILE), "run": clock.settings()})


def _parts(tokenizer: Tokenizer) -> str:
    """What the visible vocabulary consists of."""
    special = len(tokenizer.special_tokens)
    learned = tokenizer.vocab_size - 256 - special
    return f"{tokenizer.vocab_size:,}: 256 bytes, {learned:,} learned tokens, {special} special"


def _say_what_next(tokenizer: Tokenizer, folder: Path, run: Path | None) -> None:
    name = shlex.quote(str(folder))
    commands = [f"prunedbpe encode {name} FILE", f"prunedbpe inspect {name}"]
    if run is not None:
        commands.append(f"prunedbpe sweep {shlex.quote(str(run))}")
    if tokenizer.segmentation == "shortest":
        commands.append(f"prunedbpe export {name} huggingface -o FOLDER")
    for number, command in enumerate(commands):
        info(f"{'next:' if number == 0 else '     '} {command}")
