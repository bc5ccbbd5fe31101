"""Evaluate: tokenizers on corpora -> how short, how evenly used, how far from the shortest."""

from prunedbpe.evaluate.compare import CorpusEvaluation, evaluate
from prunedbpe.evaluate.metrics import ExposureSpread, gini, renyi_efficiency

__all__ = ["CorpusEvaluation", "ExposureSpread", "evaluate", "gini", "renyi_efficiency"]
