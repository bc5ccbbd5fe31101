"""Learn merges once, then prune them to several sizes and thresholds."""

from __future__ import annotations

import tempfile
from pathlib import Path

import prunedbpe


def main() -> None:
    """Print one line per tokenizer: its size, its threshold, and the length of the corpus."""
    package = Path(prunedbpe.__file__).parent
    counts = prunedbpe.count(sorted(package.rglob("*.py")))
    with tempfile.TemporaryDirectory() as folder:
        # A merge table is a Parquet file: keep it, and prune it again for another size.
        path = Path(folder, "merges.parquet")
        prunedbpe.learn(counts, 3_000).save(path)
        merges = prunedbpe.MergeTable.load(path)

    print("vocab_size  threshold  internal  encoded length  against Standard BPE")
    for vocab_size in (600, 1_000):
        for threshold in (0, "20%", "40%"):
            tok = prunedbpe.prune(merges, vocab_size, threshold=threshold)
            length = tok.training["encoded_length"]
            change = length / tok.training["standard_encoded_length"] - 1
            internal = tok.vocabulary.internal_count
            print(f"{vocab_size:10}  {threshold!s:>9}  {internal:8}  {length:14,}  {change:+.2%}")


if __name__ == "__main__":
    main()
