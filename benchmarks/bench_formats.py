"""Counting the same text in the formats that corpora come in, each run in a process of its own.

    python benchmarks/bench_formats.py --text a.txt --text b.txt --fill

All texts together are written as documents of about 4 KB, once in every format. The counts of all
formats whose documents are the same must be equal. Plain text has lines for documents, and is what
the others are compared with: all else that they take is reading.

Writes one JSON into results/ and, with --fill, the table into README.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from common import (
    Row,
    add_text_argument,
    describe,
    fill_table,
    heading,
    in_child,
    markdown,
    measure,
    median,
    parse_arguments,
    texts_of,
    write_results,
)
from competitors.trainers import documents as documents_of

DOCUMENT = 4096
FILES = 6
"""A corpus is seldom one file, and what is read ahead must not end with each of them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_text_argument(parser)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parse_arguments(parser, count_child)
    texts = texts_of(arguments)
    about = describe(texts)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        folders = write_formats(texts, Path(place))
        for round_number in range(arguments.rounds):
            for name, folder in folders.items():
                for threads in (1, 0):
                    task = {"format": name, "folder": str(folder), "threads": threads}
                    row = {**task, **in_child([json.dumps(task)]), "round": round_number}
                    if "error" in row:
                        sys.exit(f"{name}: {row['error']}")
                    rows.append(row)
                    print(f"{name:16} threads {threads}  {row['wall']:.2f} s", flush=True)
    digests = {row["digest"] for row in rows if row["format"] != "text"}
    if len(digests) != 1:
        sys.exit("the counts of the formats differ")
    table = report(rows)
    print(f"\n{table}\n\n{write_results('formats', about, rows)}")
    if arguments.fill:
        fill_table("formats", f"{heading(about)}, medians of {arguments.rounds}.\n\n{table}")


def write_formats(texts: list[Path], place: Path) -> dict[str, Path]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folders = {name: place / name for name in ("text", "jsonl", "jsonl.gz", "jsonl.zst", "parquet")}
    for folder in folders.values():
        folder.mkdir()
    documents = [document for text in texts for document in documents_of(str(text), DOCUMENT)]
    for number in range(FILES):
        part = documents[number * len(documents) // FILES : (number + 1) * len(documents) // FILES]
        lines = "".join(
            json.dumps({"id": i, "text": document, "source": {"name": "a"}}, ensure_ascii=False)
            + "\n"
            for i, document in enumerate(part)
        ).encode()
        (folders["text"] / f"{number}.txt").write_bytes("".join(part).encode())
        (folders["jsonl"] / f"{number}.jsonl").write_bytes(lines)
        (folders["jsonl.gz"] / f"{number}.jsonl.gz").write_bytes(gzip.compress(lines, 6))
        with pa.CompressedOutputStream(
            str(folders["jsonl.zst"] / f"{number}.jsonl.zst"), "zstd"
        ) as file:
            file.write(lines)
        pq.write_table(
            pa.table({"text": part}), folders["parquet"] / f"{number}.parquet", compression="zstd"
        )
    return folders


def count_child(task: Row) -> Row:
    def run() -> tuple[str, int]:
        import prunedbpe
        from prunedbpe.corpus import Corpus

        counts = prunedbpe.count(
            Corpus(task["folder"]), pretokenizer="gpt2", threads=task["threads"]
        )
        return counts.digest, counts.corpus.bytes

    row, (digest, text_bytes) = measure(run)
    return {**row, "digest": digest, "text_bytes": text_bytes}


def report(rows: list[Row]) -> str:
    lines = []
    for name in dict.fromkeys(row["format"] for row in rows):
        line = [name]
        for threads in (1, 0):
            own = [r for r in rows if r["format"] == name and r["threads"] == threads]
            wall = median(own, "wall")
            line.append(f"{wall:.2f} s")
            line.append(f"{own[0]['text_bytes'] / wall / 1e6:.0f}")
        line.append(f"{max(row['rss_mb'] for row in own):.0f}")
        lines.append(line)
    return markdown(
        ["", "one thread", "MB/s", "all threads", "MB/s", "peak MB"],
        lines,
    )


if __name__ == "__main__":
    main()
