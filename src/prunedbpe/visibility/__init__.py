"""Visibility: merges and budgets -> which tokens a model sees."""
