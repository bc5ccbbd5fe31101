"""Merges: chunk counts -> merges, the same merges replayed on other counts, and run directories."""

from prunedbpe.merges.learner import (
    Checkpointer,
    Learner,
    learn,
    learning_memory,
    replay,
    replay_by_source,
)
from prunedbpe.merges.merge_table import Applied, Candidates, MergeTable, check_same_merges

__all__ = [
    "Applied",
    "Candidates",
    "Checkpointer",
    "Learner",
    "MergeTable",
    "check_same_merges",
    "learn",
    "learning_memory",
    "replay",
    "replay_by_source",
]
