"""Encode each file of a corpus into a file of its own, in runs that can be resumed.

The ledger ``encoded.json`` records input, settings, size and checksum of every output.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from prunedbpe._support.arguments import check_names, to_path
from prunedbpe._support.commit import finish_interrupted_commit
from prunedbpe._support.progress import ProgressLike, Task, as_progress
from prunedbpe._support.remote_files import is_url, version_of
from prunedbpe._support.sealed_json import read_sealed, write_sealed
from prunedbpe._support.signatures import takes_options
from prunedbpe.corpus import Corpus
from prunedbpe.corpus.documents import ReadOptions
from prunedbpe.encoded.encoding import EncodingOptions, encode_into, refuse_own_input
from prunedbpe.encoded.file_formats import (
    ENDINGS,
    FLAT_FORMATS,
    NPY_HEADER_BYTES,
    EncodedReport,
    FileFormat,
    files_checksum,
    ids_file,
    output_files,
)
from prunedbpe.encoded.mds_files import MdsIndex
from prunedbpe.encoded.reader import open_encoded
from prunedbpe.encoded.writer import check_output
from prunedbpe.errors import FormatError, SettingsError
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.types import Settings

LEDGER = "encoded.json"
_LEDGER_FORMAT = "prunedbpe encoded files"
_LEDGER_VERSION = 1
_SECONDS_BETWEEN_LEDGERS = 5.0


@takes_options(EncodingOptions)
def encode_files(
    tokenizer: Tokenizer,
    corpus: Corpus,
    folder: str | Path,
    format: FileFormat,
    *,
    threads: int | None = None,
    progress: ProgressLike = None,
    run: Callable[..., Iterator[tuple[FileJob, Settings]]] | None = None,
    **options: Any,
) -> EncodedReport:
    """Encode every file of a corpus into a file of its own, and skip those already done.

    Outputs are numbered in corpus order: ``00000.npy``, ``00001.npy``. The ledger ``encoded.json``
    records the input and the settings of each, so an interrupted run can be resumed. A file is
    encoded again if its input, any setting or the tokenizer changed, or if its output is damaged.

    Args:
        tokenizer: Encodes the text.
        corpus: Files; not an iterable, standard input or a shard.
        folder: Where the outputs go.
        format: One of :data:`~prunedbpe.encoded.file_formats.FILE_FORMATS`.
        threads: One per core by default; the result does not depend on it.
        progress: ``True`` for a bar, ``False`` for silence, or a reporter; by default a bar in a
            notebook only.
        run: Runs the jobs, as :func:`run_here` does, which is the default.
        **options: The other fields of :class:`EncodingOptions`.

    Raises:
        SettingsError: An option is wrong, or an output file is an input of the corpus.
    """
    progress = as_progress(progress)
    folder = to_path(folder)
    run = run or run_here
    check_names(options, EncodingOptions.__dataclass_fields__)
    chosen = EncodingOptions(format, **options)
    chosen.check(tokenizer)
    inputs = corpus.fingerprint()
    if corpus.shard is not None or any(entry["bytes"] is None for entry in inputs):
        raise SettingsError(
            "only a whole corpus of files can be encoded file by file",
            hint="encode a shard, standard input or an iterable into one file",
        )
    outputs = [folder / f"{number:05d}.{ENDINGS[format]}" for number in range(len(inputs))]
    written = [path for output in outputs for path in check_output(output, format)]
    refuse_own_input(corpus, [folder / LEDGER, *written])
    folder.mkdir(parents=True, exist_ok=True)
    settings = chosen.describe(tokenizer, corpus)
    finish_interrupted_commit(folder)
    done = _read_ledger(folder)
    saved = time.monotonic()
    total = EncodedReport()
    jobs = []
    for entry, output in zip(inputs, outputs, strict=True):
        origin = {**entry, **_state_of(entry["path"])}
        expected = {"input": origin, "settings": settings}
        known = done.get(output.name)
        jobs.append(FileJob(entry["path"], output, corpus.options, chosen, expected, known))
    with progress.task("Encoding", total=corpus.size, unit="bytes") as task:
        try:
            for job, result in run(jobs, tokenizer, threads, task):
                done[job.output.name] = result
                total += EncodedReport(*(result[key] for key in asdict(total)))
                # Not after every file: the ledger of many small files is longer than each.
                if time.monotonic() - saved > _SECONDS_BETWEEN_LEDGERS:
                    _write_ledger(folder, done)
                    saved = time.monotonic()
            _remove_others(folder, chosen, done, {output.name for output in outputs})
        finally:
            _write_ledger(folder, done)
    return total


def _state_of(path: str) -> Settings:
    """Return what changes when an input does."""
    if is_url(path):
        return {"version": version_of(path)}
    return {"mtime_ns": Path(path).stat().st_mtime_ns}


@dataclass(frozen=True)
class FileJob:
    """One file to encode.

    Attributes:
        path: The file to read.
        output: The file to write.
        reading: How its documents are read.
        chosen: The options.
        expected: Input and settings, as the ledger records them.
        known: What the ledger says about the output, if it knows it.
    """

    path: str
    output: Path
    reading: ReadOptions
    chosen: EncodingOptions
    expected: Settings
    known: Settings | None

    def run(self, tokenizer: Tokenizer, threads: int | None, task: Task) -> Settings:
        """Encode the file unless that is done; return what the ledger should say about it."""
        if self.known is not None and _is_done(self.output, self.chosen, self.known, self.expected):
            task.advance(self.expected["input"]["bytes"])
            return self.known
        reading = asdict(self.reading)
        del reading["missing"]  # the chosen options say it
        part = Corpus(self.path, **reading)
        settings = self.expected["settings"]
        writer = encode_into(tokenizer, part, self.output, self.chosen, settings, threads, task)
        files = _files_of_ids(self.output, self.chosen.format)
        size = {"bytes": _bytes_of(files), "crc32": writer.checksum}
        return {**self.expected, "output": size, **asdict(writer.report)}


def run_here(
    jobs: Sequence[FileJob], tokenizer: Tokenizer, threads: int | None, task: Task
) -> Iterator[tuple[FileJob, Settings]]:
    """Run jobs in this process, one after the other; yield what the ledger should say."""
    for job in jobs:
        yield job, job.run(tokenizer, threads, task)


def _read_ledger(folder: Path) -> dict[str, Any]:
    path = folder / LEDGER
    if not path.exists():
        return {}
    hint = "remove it to encode every file again"
    ledger = read_sealed(path, hint)
    if (ledger.get("format"), ledger.get("version")) != (_LEDGER_FORMAT, _LEDGER_VERSION):
        raise FormatError(
            f"{path}: not a ledger of encoded files, or of another version", hint=hint
        )
    return dict(ledger["files"])


def _write_ledger(folder: Path, files: dict[str, Any]) -> None:
    files = dict(sorted(files.items()))  # files may be done in any order
    ledger = {"format": _LEDGER_FORMAT, "version": _LEDGER_VERSION, "files": files}
    write_sealed(folder / LEDGER, ledger)


def _is_done(output: Path, chosen: EncodingOptions, known: Settings, expected: Settings) -> bool:
    """Whether an output is what would be written again, and is intact: all of it is read."""
    if any(known.get(key) != value for key, value in expected.items()):
        return False
    try:
        if chosen.format in (*FLAT_FORMATS, "megatron"):
            open_encoded(output)
        files = _files_of_ids(output, chosen.format)
        start = NPY_HEADER_BYTES if chosen.format == "npy" else 0
        found = {"bytes": _bytes_of(files), "crc32": files_checksum(files, start)}
    except (FormatError, OSError):  # damaged or missing
        return False
    return bool(known.get("output") == found)


def _files_of_ids(output: Path, format_: FileFormat) -> list[Path]:
    """Return the files whose bytes a ledger records: those that hold ids."""
    return MdsIndex(output).shards if format_ == "mds" else [ids_file(output, format_)]


def _bytes_of(files: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in files)


def _remove_others(
    folder: Path, chosen: EncodingOptions, done: dict[str, Any], current: set[str]
) -> None:
    """Remove outputs of this format whose inputs are no longer in the corpus."""
    for name in list(done):
        if name not in current and name.endswith(f".{ENDINGS[chosen.format]}"):
            for path in output_files(folder / name, chosen.format):
                if path.is_dir():
                    shutil.rmtree(path)
                path.unlink(missing_ok=True)
            del done[name]
