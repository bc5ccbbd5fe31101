"""What is measured of a trained model: bits per byte, and how far embeddings moved.

In: a model and the stream of the held-out documents. Out: plain numbers for a JSON file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from prunedbpe.types import BoolArray, FloatArray, Int64Array
from studies.language_model.model import NOTHING, Transformer
from studies.language_model.settings import Context
from studies.language_model.streams import Row, Stream, measuring_rows, padded
from studies.language_model.texts import Document

RARE = 10
"""Occurrences below which a token counts as rare."""

HARDLY = 0.1
"""Share of the median movement below which an embedding hardly moved."""

EXPOSURES = (0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000)
"""Where the classes of occurrences begin."""


class HeldOut:
    """Documents to measure on, cut into rows once.

    Args:
        stream: The documents as token ids.
        documents: The same documents.
        context: What ``length`` counts.
        length: Most context a token has.
        rows_at_once: Rows for one pass.
    """

    def __init__(
        self,
        stream: Stream,
        documents: Sequence[Document],
        context: Context,
        length: int,
        rows_at_once: int,
    ) -> None:
        self.stream = stream
        self.documents = documents
        rows = list(measuring_rows(stream, context, length))
        # Rows of one length together: less padding.
        self.rows = sorted(rows, key=lambda row: row.end - row.begin)
        places = np.array([row.begin for row in self.rows])
        self.document_of = np.searchsorted(stream.starts, places, side="right") - 1
        self.rows_at_once = rows_at_once

    def nats(
        self, model: Transformer, device: torch.device, first: int | None = None
    ) -> FloatArray:
        """Nats of each document.

        Args:
            model: Predicts.
            device: Where it is.
            first: Measure this many documents only, the first; the others get 0.
        """
        chosen = [i for i in range(len(self.rows)) if first is None or self.document_of[i] < first]
        total = np.zeros(len(self.documents))
        for begin in range(0, len(chosen), self.rows_at_once):
            some = chosen[begin : begin + self.rows_at_once]
            nats = row_nats(model, self.stream, [self.rows[i] for i in some], device)
            np.add.at(total, self.document_of[some], nats)
        return total

    def bits_per_byte(self, nats: FloatArray) -> dict[str, float]:
        """Of all text, and of each part; documents with 0 nats were not measured."""
        sizes = np.array([len(document.data) for document in self.documents])
        parts = np.array([document.part for document in self.documents])
        measured = nats > 0
        found = {"all": measured}
        found |= {str(part): measured & (parts == part) for part in sorted(set(parts.tolist()))}
        return {
            name: round(float(nats[chosen].sum() / sizes[chosen].sum() / math.log(2)), 6)
            for name, chosen in found.items()
            if chosen.any()
        }


@torch.no_grad()
def row_nats(
    model: Transformer, stream: Stream, rows: Sequence[Row], device: torch.device
) -> FloatArray:
    """Nats of the scored tokens of each row."""
    ids, targets = (torch.from_numpy(part) for part in padded(stream, rows, NOTHING))
    losses = model.losses(ids.to(device), targets.to(device))
    row_of = (targets != NOTHING).nonzero()[:, 0].numpy()
    return np.bincount(row_of, losses.double().cpu().numpy(), len(rows))


def movement(
    before: Tensor, after: Tensor, occurrences: Int64Array, counted: BoolArray
) -> dict[str, Any]:
    """How far input embeddings moved, against how often their tokens occurred.

    Args:
        before: A row for each token.
        after: The same after training.
        occurrences: Of each token in the text that was read.
        counted: Which tokens count: not the special ones.
    """
    moved = (after - before).float().norm(dim=1).cpu().numpy()[counted]
    seen = occurrences[counted]
    median = float(np.median(moved))
    classes = []
    for low, high in zip(EXPOSURES, [*EXPOSURES[1:], np.inf], strict=True):
        some = moved[(seen >= low) & (seen < high)]
        if len(some):
            tenth, middle, most = np.quantile(some, [0.1, 0.5, 0.9]).round(4).tolist()
            classes.append(
                {"from": low, "tokens": len(some), "q10": tenth, "q50": middle, "q90": most}
            )
    return {
        "visible_tokens": len(moved),
        "median": round(median, 4),
        "hardly_moved": int((moved < HARDLY * median).sum()),
        "rare": int((seen < RARE).sum()),
        "by_occurrences": classes,
    }
