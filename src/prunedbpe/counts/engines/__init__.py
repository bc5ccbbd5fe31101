"""Engines: count a corpus with the workers of a cluster, to the same table as on one machine."""
