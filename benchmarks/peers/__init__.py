"""Other libraries, each behind a small function of the same shape."""
