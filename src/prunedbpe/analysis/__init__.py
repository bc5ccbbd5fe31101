"""Analysis: evaluate, sweep, audit, inspect, compare and retarget tokenizers."""
