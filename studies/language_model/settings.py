"""The configuration of a study: sizes, budgets and everything that decides a figure.

In: a JSON file of ``configs``, or one of your own. Out: :class:`Settings`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from prunedbpe.errors import SettingsError

CONFIGS = Path(__file__).parent / "configs"

Context = Literal["tokens", "bytes"]


@dataclass(frozen=True)
class Settings:
    """What a run is made with.

    Attributes:
        name: Of the configuration; results of different names never mix.
        sizes: Visible vocabulary sizes, smallest first.
        byte_context_sizes: Sizes for which the variant with rows of bytes runs too.
        seeds: How many; they are numbered from 1.
        train_bytes: The budget "equal text".
        curve_points: How often the curve is measured, up to the equal text.
        curve_bytes: Held-out text for the curve.
        width: Of the model.
        layers: Of the model.
        heads: Of each layer.
        context_tokens: Length of a row.
        context_bytes: Length of a row in the variant with rows of bytes.
        batch_rows: Rows for one step.
        rows_at_once: Rows for one pass through the model; more need more memory.
        learning_rate: After the warm-up, constant.
        warmup_steps: Steps in which the learning rate rises.
        weight_decay: On the matrices of the layers.
        average: What the averaged weights keep in a step.
        precision: Of matrix products, in training and measuring. bfloat16 by autocast is quicker on
            GPUs and on CPUs with instructions for it, and slower on others.
        threads: Of a run; the last digits depend on it.
    """

    name: str
    sizes: tuple[int, ...]
    byte_context_sizes: tuple[int, ...]
    seeds: int
    train_bytes: int
    curve_points: int
    curve_bytes: int
    width: int
    layers: int
    heads: int
    context_tokens: int
    context_bytes: int
    batch_rows: int
    rows_at_once: int
    learning_rate: float
    warmup_steps: int
    weight_decay: float
    average: float
    precision: Literal["float32", "bfloat16"]
    threads: int

    @classmethod
    def load(cls, path: str | Path) -> Settings:
        """Read a configuration: a path, or the name of one in ``configs``."""
        path = Path(path)
        if not path.suffix:
            path = CONFIGS / f"{path}.json"
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            known = ", ".join(sorted(found.stem for found in CONFIGS.glob("*.json")))
            raise SettingsError(f"{path}: no such file", hint=f"or give one of: {known}") from None
        except json.JSONDecodeError as error:
            raise SettingsError(f"{path}: not JSON: {error}") from None
        names = {field.name for field in fields(cls)}
        if wrong := sorted(names ^ set(values)):
            raise SettingsError(
                f"{path}: unknown or missing: {', '.join(wrong)}", hint="copy configs/small.json"
            )
        if values["precision"] not in ("float32", "bfloat16"):
            raise SettingsError(f"{path}: precision is float32 or bfloat16")
        for name in ("sizes", "byte_context_sizes"):
            values[name] = tuple(values[name])
        return cls(**values)

    def of_run(self) -> dict[str, Any]:
        """What decides the figures of one run, as they are stored with it."""
        others = {"name", "sizes", "byte_context_sizes", "seeds"}
        return {name: value for name, value in asdict(self).items() if name not in others}
