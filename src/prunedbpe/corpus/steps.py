"""Steps: all parts of a corpus, one after the other -> batches, and what was found on the way.

Reading may run ahead in a thread of its own. So it tells by its steps alone, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from prunedbpe.corpus.batches import DocumentBatch
from prunedbpe.corpus.blocks import NotUtf8Error
from prunedbpe.corpus.options import ReadOptions
from prunedbpe.corpus.readers import BatchAt, read_part, read_texts
from prunedbpe.corpus.report import CorpusReport
from prunedbpe.corpus.shards import FilePart

_NOTHING = CorpusReport()


@dataclass(frozen=True, eq=False)
class Fault:
    """A file is not UTF-8.

    Attributes:
        source: The file.
        offset: Where, in its unpacked bytes.
        is_late: Whether documents of it were handed out before.
    """

    source: str
    offset: int
    is_late: bool


@dataclass(frozen=True, eq=False)
class Step:
    """How far reading has come.

    Attributes:
        reached: Bytes of the whole corpus on the disk; of texts, their own.
        report: What was found since the last step.
        batch: Documents, if the step has any.
        fault: Why a file has no more of them.
    """

    reached: int
    report: CorpusReport
    batch: DocumentBatch | None = None
    fault: Fault | None = None


def read_steps(
    parts: Sequence[FilePart],
    options: ReadOptions,
    threads: int,
    *,
    check_first: bool,
    left_out: Collection[str],
) -> Iterator[Step]:
    """Read parts of files, one after the other.

    Args:
        parts: What is read.
        options: How.
        threads: How many may read a large file.
        check_first: Whether no document of a file is handed out before all of it is checked.
        left_out: Files known not to be UTF-8.
    """
    # What is told at the end of a file goes with the next batch. A step of its own would be all
    # that is made ahead while the last batch of a file is used.
    told: list[CorpusReport] = []
    begin = 0  # of the part in the corpus
    for part in parts:
        source = part.file.source
        # The length of standard input is not known. Lines reach over the ends of other parts; the
        # steps keep to what a bar was promised as its total.
        end = None if part.file.is_stdin else begin + part.end - part.begin
        reached = begin
        is_late = False
        if source in left_out:
            told.append(CorpusReport(skipped=(source,)))
        else:
            read = read_part(part, options, told.append, threads, check_first=check_first)
            try:
                for step in _steps(read, told, begin - part.begin, end):
                    reached = step.reached
                    is_late = is_late or step.batch is not None
                    yield step
                told.append(CorpusReport(files=int(part.is_start)))
            except NotUtf8Error as error:
                told.append(CorpusReport(skipped=(source,)))
                yield Step(reached, _take(told), fault=Fault(source, error.offset, is_late))
        begin = reached if end is None else end
    yield Step(begin, _take(told))


def read_text_steps(texts: Iterable[str], options: ReadOptions) -> Iterator[Step]:
    """Read Python strings."""
    told: list[CorpusReport] = []
    yield from _steps(read_texts(texts, options, told.append), told)


def _steps(
    read: Iterator[BatchAt],
    told: list[CorpusReport],
    shift: int = 0,
    end: int | None = None,
) -> Iterator[Step]:
    for batch, position in read:
        reached = position + shift if end is None else min(position + shift, end)
        if len(batch) == 0:
            yield Step(reached, _take(told))
            continue
        told.append(CorpusReport(documents=len(batch), bytes=batch.text_bytes))
        yield Step(reached, _take(told), batch)


def _take(told: list[CorpusReport]) -> CorpusReport:
    report = reduce(CorpusReport.__add__, told) if told else _NOTHING
    told.clear()
    return report
