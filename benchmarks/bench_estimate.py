"""How well `estimate` predicts a count: predicted and true sizes, memory and time.

    python benchmarks/bench_estimate.py english/ chinese/ mixed.txt
    python benchmarks/bench_estimate.py large.txt --share 0

Every corpus is estimated from a share of its bytes, or with ``--share 0`` from the sample that is
the default, and then counted. With ``--add``, the result file keeps the rows of other corpora.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from common import RESULTS, Row, describe, measure, run_child, show, write_results

SIZES = ("text_bytes", "unique_chunks", "unique_bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", nargs="*", help="files or folders, each a corpus")
    parser.add_argument("--share", type=float, default=1 / 16, help="share of the bytes to read")
    parser.add_argument("--add", action="store_true", help="keep the rows of other corpora")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child is not None:
        task = json.loads(arguments.child)
        print(json.dumps({"predict": predict, "count": count}[task["job"]](task)))
        return
    files = [path for name in arguments.corpora for path in files_of(Path(name))]
    about = describe(files)
    rows = []
    for name in arguments.corpora:
        place = {"corpus": Path(name).stem, "path": name}
        guess = run_child({"job": "predict", **place, "share": arguments.share})
        truth = run_child({"job": "count", **place})
        for row in (guess, truth):
            if "error" in row:
                sys.exit(f"{name}: {row['error']}")
        errors = {f"{size}_error": guess[size] / truth[size] - 1 for size in SIZES}
        rows += [show({**guess, **errors}), show(truth)]
    if arguments.add:
        kept = json.loads((RESULTS / "estimate.json").read_text(encoding="utf-8"))
        new = {row["corpus"] for row in rows}
        rows = [*(row for row in kept["rows"] if row["corpus"] not in new), *rows]
        about["texts"] = {**kept["texts"], **about["texts"]}
    write_results("estimate", about, rows)


def files_of(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())


def predict(task: Row) -> Row:
    from prunedbpe import Corpus
    from prunedbpe.counts import estimate
    from prunedbpe.counts.estimating import SAMPLE_BYTES

    corpus = Corpus(task["path"])
    sample = int((corpus.size or 0) * task["share"]) or SAMPLE_BYTES
    costs, found = measure(lambda: estimate(corpus, sample_bytes=sample))
    fields = ("sampled_bytes", *SIZES, "most_chunks", "most_bytes", "counting_memory", "seconds")
    return {**costs, **{field: getattr(found, field) for field in fields}}


def count(task: Row) -> Row:
    import prunedbpe

    # In memory, whatever the machine: the prediction is for a count without temporary files.
    costs, counts = measure(lambda: prunedbpe.count(task["path"], memory="1TB"))
    sizes = (counts.corpus.bytes, len(counts), len(counts.data))
    return {**costs, **dict(zip(SIZES, sizes, strict=True))}


if __name__ == "__main__":
    main()
