"""Counting the same text in each corpus format.

    python benchmarks/bench_formats.py --text mixed.txt --text code.txt

Writes all texts as documents of about 4 KB into six files of each format, up to 200 MB of text.
Verifies that all formats with the same documents give the same counts. In plain text every line is
a document; it is the baseline, so what the other formats add is the cost of reading them.
"""

from __future__ import annotations

import gzip
import itertools
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from common import Row, describe, measure, parse_arguments, run_child, show, write_results
from peers.trainers import documents

FORMATS = ("text", "jsonl", "jsonl.gz", "jsonl.zst", "parquet")
FILES = 6
DOCUMENT_BYTES = 4096


def main() -> None:
    arguments = parse_arguments(__doc__ or "", {"count": count}, megabytes=200)
    about = describe(arguments.texts)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        write_formats(arguments.texts, arguments.megabytes * 10**6, Path(folder))
        for number, name in itertools.product(range(-1, arguments.rounds), FORMATS):
            for threads in (1, 0):
                task = {"job": "count", "format": name, "threads": threads, "round": number}
                row = show(run_child({**task, "path": f"{folder}/{name}"}))
                if "error" in row:
                    sys.exit(f"{name}: {row['error']}")
                rows.append(row)
            if number == -1 and len({r["digest"] for r in rows if r["format"] != "text"}) > 1:
                sys.exit("the counts of the formats differ: nothing is timed")
    write_results("formats", about, [row for row in rows if row["round"] >= 0])


def write_formats(texts: list[Path], size: int, folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name in FORMATS:
        (folder / name).mkdir()
    share = min(1.0, size / sum(text.stat().st_size for text in texts))
    chosen: list[str] = []
    for text in texts:
        whole = list(documents(str(text), DOCUMENT_BYTES))
        chosen += whole[: int(len(whole) * share)]
    for number in range(FILES):
        part = chosen[number * len(chosen) // FILES : (number + 1) * len(chosen) // FILES]
        records = ({"id": i, "text": text} for i, text in enumerate(part))
        lines = "".join(json.dumps(x, ensure_ascii=False) + "\n" for x in records).encode()
        (folder / "text" / f"{number}.txt").write_bytes("".join(part).encode())
        (folder / "jsonl" / f"{number}.jsonl").write_bytes(lines)
        (folder / "jsonl.gz" / f"{number}.jsonl.gz").write_bytes(gzip.compress(lines, 6))
        zst = folder / "jsonl.zst" / f"{number}.jsonl.zst"
        with pa.CompressedOutputStream(str(zst), "zstd") as file:
            file.write(lines)
        parquet = folder / "parquet" / f"{number}.parquet"
        pq.write_table(pa.table({"text": part}), parquet, compression="zstd")


def count(task: Row) -> Row:
    def run() -> tuple[str, int]:
        import prunedbpe

        counts = prunedbpe.count(task["path"], pretokenizer="gpt2", threads=task["threads"])
        return counts.digest, counts.corpus.bytes

    row, (digest, text_bytes) = measure(run)
    return {**row, "digest": digest, "text_bytes": text_bytes}


if __name__ == "__main__":
    main()
