"""Import tokenizers and compare each with its own library, on texts that are hard to cut.

    python tools/check_imports.py --texts 5000 tokenizer.json tekken.json …

Prints one line for each file or folder: equal, with the library and the number of texts; refused,
with the reason; or different, with the text. A rank file whose pattern is not known needs
``--pretokenizer``. Ends with code 1 if a file is different.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from prunedbpe.errors import NotExactError, PrunedBPEError
from prunedbpe.exchange.importing import import_tokenizer
from prunedbpe.exchange.library_check import compare
from prunedbpe.tokenizer.imported import ImportedTokenizer


def main() -> int:
    """Check the files that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--texts", type=int, default=1000, help="texts for each file")
    parser.add_argument("--seed", type=int, default=0, help="other seeds give other texts")
    parser.add_argument("--pretokenizer", help="how rank files cut text, if nothing says so")
    given = parser.parse_args()
    different = False
    for path in given.files:
        result = check(path, given.texts, given.seed, given.pretokenizer)
        different |= result.startswith("different")
        print(f"{path}: {result}", flush=True)
    return int(different)


def check(path: Path, texts: int, seed: int, pretokenizer: str | None) -> str:
    """Return the line of one file."""
    options = {"pretokenizer": pretokenizer} if pretokenizer else {}
    started = time.perf_counter()
    try:
        tokenizer = import_tokenizer(path, **options)
    except PrunedBPEError as error:
        return f"refused: {error.message}"
    seconds = time.perf_counter() - started
    about = f"{tokenizer.vocab_size:,} ids, imported in {seconds:.1f} s"
    if not isinstance(tokenizer, ImportedTokenizer):
        return f"not compared: not the file of another library; {about}"
    name = tokenizer.training["imported"].get("file", "")
    try:
        found = compare(tokenizer, path / name if path.is_dir() else path, texts, seed)
    except NotExactError as error:
        return f"different: {error.message}"
    if found is None:
        return f"not compared: its library is not installed; {about}"
    return f"equal to {found.library} on {found.texts:,} texts; {about}"


if __name__ == "__main__":
    raise SystemExit(main())
