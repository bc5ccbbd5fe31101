"""Learning: chunk counts -> merges, and the same merges replayed on other counts."""

from prunedbpe.learn.learner import Learner, learn, replay
from prunedbpe.learn.merges import Applied, MergeTable

__all__ = ["Applied", "Learner", "MergeTable", "learn", "replay"]
