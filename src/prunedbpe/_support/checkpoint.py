"""The state of a long computation in a JSON file, saved now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prunedbpe._support.sealed_json import read_sealed, write_sealed
from prunedbpe._support.temporary_files import remove_leftovers
from prunedbpe.types import Settings


class Checkpoint:
    """Where a computation keeps its state.

    Args:
        path: The file; ``None`` keeps nothing.
        identity: What is computed, and from what. The state of anything else is ignored.
        every_seconds: The interval between two states.
    """

    def __init__(
        self, path: Path | None, identity: Settings | None = None, *, every_seconds: float = 30.0
    ) -> None:
        self._path = path
        self._identity = identity
        self._every_seconds = every_seconds
        self._saved_at = time.monotonic()

    def load(self) -> Settings | None:
        """Return the last state of this computation, if there is one.

        Raises:
            FormatError: The file is damaged.
        """
        if self._path is None or not self._path.exists():
            return None
        found = read_sealed(self._path, hint="remove it to start this step over")
        if found.get("identity") != self._identity:
            return None
        state: Settings = found["state"]
        return state

    def save(self, state: Callable[[], Settings]) -> None:
        """Save the state, if the last one is old enough."""
        if time.monotonic() - self._saved_at >= self._every_seconds:
            self._save(state())

    @contextmanager
    def on_interrupt(self, state: Callable[[], Settings]) -> Iterator[None]:
        """Save the state if the computation is interrupted."""
        try:
            yield
        except KeyboardInterrupt:
            self._save(state())
            raise

    def _save(self, state: Settings) -> None:
        if self._path is not None:
            write_sealed(self._path, {"identity": self._identity, "state": state})
        self._saved_at = time.monotonic()

    def clear(self) -> None:
        """Remove the state: the computation is done."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            remove_leftovers(self._path)


NO_CHECKPOINT = Checkpoint(None)
