"""Analysis: what a tokenizer is worth on text, and what another choice of tokens would be."""
