"""What all stages use: atomic files, Parquet tables, digests, progress and threads."""
