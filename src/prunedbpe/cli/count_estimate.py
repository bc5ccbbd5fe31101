"""``prunedbpe count --estimate``: a sample of a corpus -> what counting and learning will take."""

from __future__ import annotations

from prunedbpe._support.sizes import format_size
from prunedbpe.cli.terminal import print_json, print_line, print_table
from prunedbpe.counts import Estimate
from prunedbpe.training import memory_to_learn

LEARNED_TOKENS = 32_000
"""The size of the vocabulary for which the memory of learning is predicted; it hardly matters."""


def show_estimate(found: Estimate, *, threads: int | None, as_json: bool) -> None:
    """Print an estimate as a table, or as JSON."""
    learning = memory_to_learn(found.unique_chunks, found.unique_bytes, LEARNED_TOKENS, threads)
    if as_json:
        print_json({**found.as_settings(), "learning_memory": learning})
        return
    read = format_size(found.sampled_bytes)
    about = "" if found.is_exact else "about "
    chunks = f"{about}{found.unique_chunks:,}"
    if found.most_chunks > found.unique_chunks:
        chunks += f", perhaps {found.most_chunks:,}"
    print_table(
        [
            ("sample", f"{read} of {format_size(found.disk_bytes)} on disk"),
            ("text", f"{about}{format_size(found.text_bytes)}"),
            ("unique chunks", chunks),
            ("their bytes", f"{about}{format_size(found.unique_bytes)}"),
            ("memory to count", f"{format_size(found.counting_memory)} without temporary files"),
            ("memory to learn", f"{format_size(learning)} for {LEARNED_TOKENS:,} tokens"),
            ("time to count", f"about {_duration(found.seconds)} with {found.threads} threads"),
        ]
    )
    print_line()
    rows = [("text", "unique chunks", "their bytes", "")]
    for point in found.curve:
        rows.append(
            (
                format_size(point.text_bytes),
                f"{point.unique_chunks:,}",
                format_size(point.unique_bytes),
                "predicted" if point.is_predicted else "measured",
            )
        )
    print_table(rows, right=[0, 1, 2])


def _duration(seconds: float) -> str:
    """Write a time with two digits.

    >>> _duration(0.2), _duration(75), _duration(5000)
    ('1 s', '75 s', '83 min')
    """
    if seconds < 120:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
