"""What one model reads: rows of text, up to the larger of two budgets.

In: texts, a seed, a tokenizer and the one it is compared with. Out: a :class:`Course`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from prunedbpe import Tokenizer
from prunedbpe.errors import CorpusError
from prunedbpe.types import Int64Array
from studies.language_model.model import row_flops
from studies.language_model.settings import Context, Settings
from studies.language_model.streams import Row, Stream, make_stream, training_rows
from studies.language_model.texts import Texts


@dataclass(frozen=True, eq=False)
class Course:
    """What a model reads, and where it is measured.

    Attributes:
        stream: The text.
        rows: In order; as many as the larger of both budgets needs.
        flops: Spent after each row.
        marks: How many rows each budget has.
    """

    stream: Stream
    rows: list[Row]
    flops: Int64Array
    marks: dict[str, int]

    def bytes_after(self, rows: int) -> int:
        """Bytes of text in the first rows."""
        return int(self.stream.places[self.rows[rows - 1].end])

    def batches(self, size: int) -> Iterator[tuple[int, int]]:
        """First and last row of each step; a budget ends a step."""
        begin = 0
        for mark in sorted(set(self.marks.values())):
            for first in range(begin, mark, size):
                yield first, min(first + size, mark)
            begin = mark


def plan_course(
    settings: Settings,
    texts: Texts,
    seed: int,
    context: Context,
    tokenizer: Tokenizer,
    reference: Tokenizer,
) -> Course:
    """Lay out a run: equal text, then as much as equal compute needs.

    Args:
        settings: The budgets.
        texts: The training side is read, in the order of the seed.
        seed: Of the run.
        context: What the length of a row counts.
        tokenizer: Of the arm.
        reference: Its FLOPs for the equal text are the budget "equal compute".

    Raises:
        CorpusError: The corpus is too short for a budget.
    """
    documents = texts.in_order(seed)
    ends = np.cumsum([len(document.data) for document in documents])
    equal = int(np.searchsorted(ends, settings.train_bytes, side="right"))
    if equal in (0, len(documents)):
        raise CorpusError(
            f"the training side has {ends[-1]:,} bytes in {len(documents):,} documents, "
            f"the budget is {settings.train_bytes:,}",
            hint="give more text, or a configuration with a smaller train_bytes",
        )
    length = settings.context_tokens if context == "tokens" else settings.context_bytes

    def cut(stream: Stream, begin: int, end: int) -> tuple[list[Row], Int64Array]:
        rows = training_rows(stream, begin, end, context, length)
        lengths = np.array([row.end - row.begin for row in rows], np.int64)
        return rows, row_flops(lengths, settings.width, settings.layers, stream.vocab_size)

    same = make_stream(reference, documents[:equal])
    budget = int(cut(same, 0, len(same.ids))[1].sum())

    more = equal
    while True:
        stream = make_stream(tokenizer, documents[:more])
        middle = int(stream.starts[equal])
        rows, flops = cut(stream, 0, middle)
        later, later_flops = cut(stream, middle, len(stream.ids)) if more > equal else ([], [])
        spent = np.cumsum([*flops.tolist(), *later_flops], dtype=np.int64)
        if spent[-1] >= budget:
            break
        if more == len(documents):
            raise CorpusError(
                f"the corpus ends before the model has read as many FLOPs as {budget:.3g}",
                hint="give more text, or a configuration with a smaller train_bytes",
            )
        missing = ends[more - 1] * (budget / spent[-1] - 0.99)
        more = int(np.searchsorted(ends, ends[more - 1] + missing)) + 1
        more = min(more, len(documents))
    compute = int(np.searchsorted(spent, budget)) + 1
    last = max(len(rows), compute)
    marks = {"equal_text": len(rows), "equal_compute": compute}
    return Course(stream, (rows + later)[:last], spent[:last], marks)
