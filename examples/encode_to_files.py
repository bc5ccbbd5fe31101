"""Encode a corpus into memory-mapped files, and a column of a table into another column."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa

import prunedbpe
from prunedbpe.encoded import encode_corpus, encode_to_arrow, open_encoded


def main() -> None:
    """Write, map, and read one document back."""
    package = sorted(Path(prunedbpe.__file__).parent.rglob("*.py"))
    tok = prunedbpe.train(package, vocab_size=1_000, threshold="40%")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ids.bin")
        report = encode_corpus(tok, package, path, append_token="<_EOS_>")
        documents = open_encoded(path)  # memory-mapped
        print(report)
        print(documents.ids.dtype, tok.decode(documents[0])[:60])

    table = pa.table({"text": ["def f(): pass", "import os"]})
    table = table.append_column("ids", encode_to_arrow(tok, table["text"]))
    print(table["ids"].to_pylist())


if __name__ == "__main__":
    main()
