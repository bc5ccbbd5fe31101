"""One run: a model learns from a stream, and is measured on the way.

In: settings, what to read, what to measure on. Out: the figures of the run, for a JSON file. A run
that is stopped resumes from its checkpoint and ends with the same figures.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from prunedbpe.types import BoolArray, FloatArray
from studies.language_model.course import Course
from studies.language_model.measures import HeldOut, movement
from studies.language_model.model import NOTHING, Transformer
from studies.language_model.settings import Settings
from studies.language_model.streams import occurrences, padded

CHECKPOINT_SECONDS = 120.0

Report = Callable[[str], None]


class Run:
    """A model in training.

    Args:
        settings: Of the study.
        course: What it reads.
        held_out: What it is measured on.
        curve_documents: How many of those for the curve.
        ordinary: Which tokens' movement counts: all but special ones.
        weights_seed: Of the initial weights.
    """

    def __init__(
        self,
        settings: Settings,
        course: Course,
        held_out: HeldOut,
        curve_documents: int,
        ordinary: BoolArray,
        weights_seed: int,
    ) -> None:
        torch.set_num_threads(settings.threads)
        self.settings = settings
        self.course = course
        self.held_out = held_out
        self.curve_documents = curve_documents
        self.ordinary = ordinary
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.weights_seed = weights_seed
        self.model = self._new_model()
        self.average = AveragedModel(
            self.model, multi_avg_fn=get_ema_multi_avg_fn(settings.average)
        )
        matrices = self.model.matrices()
        kept = {id(weights) for weights in matrices}
        others = [weights for weights in self.model.parameters() if id(weights) not in kept]
        self.optimizer = torch.optim.AdamW(
            [
                {"params": matrices, "weight_decay": settings.weight_decay},
                {"params": others, "weight_decay": 0.0},
            ],
            lr=settings.learning_rate,
            betas=(0.9, 0.95),
            fused=True,
        )
        self.steps = 0
        self.seconds = 0.0
        self.found: dict[str, Any] = {"curve": []}

    def _new_model(self) -> Transformer:
        settings = self.settings
        model = Transformer(
            self.course.stream.tokens,
            settings.width,
            settings.layers,
            settings.heads,
            self.weights_seed,
        )
        return model.to(self.device)

    def finish(self, checkpoint: Path, report: Report, stop_after: int | None = None) -> None:
        """Train to the end, measuring on the way.

        Args:
            checkpoint: Resumed from if it exists, written now and then, removed by the caller.
            report: Gets a line at every point of the curve.
            stop_after: Stop after a number of steps, as an interrupted run would.
        """
        if checkpoint.exists():
            self._restore(checkpoint)
        saved = time.monotonic()
        batches = list(self.course.batches(self.settings.batch_rows))
        for first, last in batches[self.steps :]:
            started = clock(self.device)
            self.step(first, last)
            self.seconds += clock(self.device) - started
            self._measure(last, report)
            if self.steps == stop_after:
                self._save(checkpoint)
                return
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                self._save(checkpoint)
                saved = time.monotonic()

    def step(self, first: int, last: int) -> None:
        """Learn from some rows at once; those of like length go through the model together."""
        settings, stream = self.settings, self.course.stream
        rows = sorted(self.course.rows[first:last], key=lambda row: row.end - row.begin)
        counted = sum(int(stream.is_text[row.begin : row.end].sum()) for row in rows)
        # A step cut short by a budget weighs less, so that each token weighs the same.
        share = len(rows) / settings.batch_rows
        for begin in range(0, len(rows), settings.rows_at_once):
            some = rows[begin : begin + settings.rows_at_once]
            ids, targets = (
                torch.from_numpy(part).to(self.device) for part in padded(stream, some, NOTHING)
            )
            with precision(self.device, settings):
                losses = self.model.losses(ids, targets)
            (losses.sum() * (share / max(counted, 1))).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.steps += 1
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * min(1.0, self.steps / settings.warmup_steps)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.average.update_parameters(self.model)

    def _measure(self, rows: int, report: Report) -> None:
        """Measure after some rows if a budget or a point of the curve is reached."""
        settings, course = self.settings, self.course
        read = course.bytes_after(rows)
        point = len(self.found["curve"]) + 1
        whole = course.bytes_after(course.marks["equal_text"])
        if point <= settings.curve_points and read * settings.curve_points >= whole * point:
            nats = self._nats(self.curve_documents)
            bits = self.held_out.bits_per_byte(nats)["all"]
            flops = int(course.flops[rows - 1])
            self.found["curve"].append({"bytes": read, "flops": flops, "bits_per_byte": bits})
            report(f"{100 * read / whole:.0f} %: {bits:.4f} bits per byte")
        for name, mark in course.marks.items():
            if rows == mark and name not in self.found:
                nats = self._nats()
                self.found[name] = {
                    "bytes": read,
                    "tokens": course.rows[rows - 1].end,
                    "flops": int(course.flops[rows - 1]),
                    "bits_per_byte": self.held_out.bits_per_byte(nats),
                }
                if name == "equal_text":
                    self.found["document_nats"] = nats.round(2).tolist()
                    self.found["speed"] = self._speed(rows)
                    self.found["movement"] = self._movement(rows)

    def _nats(self, documents: int | None = None) -> FloatArray:
        with precision(self.device, self.settings):
            return self.held_out.nats(self.average.module, self.device, documents)

    def _speed(self, rows: int) -> dict[str, Any]:
        read, tokens = self.course.bytes_after(rows), self.course.rows[rows - 1].end
        return {
            "clock": "cpu" if self.device.type == "cpu" else "wall",
            "seconds": round(self.seconds, 1),
            "bytes_per_second": round(read / self.seconds),
            "tokens_per_second": round(tokens / self.seconds),
        }

    def _movement(self, rows: int) -> dict[str, Any]:
        before = self._new_model().embedding.weight.detach()
        after = self.model.embedding.weight.detach()
        seen = occurrences(self.course.stream, self.course.rows[rows - 1].end)
        return movement(before, after, seen, self.ordinary)

    def _state(self) -> dict[str, Any]:
        return {
            "model": self.model.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "steps": self.steps,
            "seconds": self.seconds,
            "found": self.found,
        }

    def _save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        torch.save(self._state(), partial)
        partial.replace(path)

    def _restore(self, path: Path) -> None:
        state = torch.load(path, map_location=self.device, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.steps, self.seconds = state["steps"], state["seconds"]
        self.found = state["found"]


def precision(device: torch.device, settings: Settings) -> torch.autocast:
    """The context in which the model multiplies matrices."""
    enabled = settings.precision == "bfloat16"
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled)


def clock(device: torch.device) -> float:
    """CPU seconds of this process, or seconds of the wall clock on a GPU."""
    if device.type == "cpu":
        return time.process_time()
    torch.cuda.synchronize(device)
    return time.perf_counter()
