"""Train small models with several tokenizers and compare them on held-out text.

    python -m studies.language_model --corpus FOLDER            # continue the study of PROTOCOL.md
    python -m studies.language_model --corpus FOLDER --plan     # how long that takes
    python -m studies.language_model --corpus FOLDER --tokenizer TOK --against OTHER

Results go to JSON files, one for each run; a run that is there is not made again. The table goes to
standard output, progress to standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path

from prunedbpe.errors import MissingExtraError, PrunedBPEError
from studies.language_model.results import RESULTS

try:
    import torch  # noqa: F401
except ImportError:
    sys.exit(str(MissingExtraError("torch", "study", "The language-model study")))

from studies.language_model.schedule import continue_study, show_plan
from studies.language_model.study import open_study
from studies.language_model.summary import show_summary

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "prunedbpe/language-model")


def main() -> None:
    """Continue a study, or say how long it takes."""
    arguments = parse()
    mine = arguments.tokenizer is not None
    opener = partial(
        open_study,
        arguments.config,
        arguments.corpus,
        arguments.results or (Path("language-model") if mine else RESULTS),
        arguments.cache,
        (arguments.tokenizer, arguments.against) if mine else None,
    )
    try:
        if arguments.plan:
            show_plan(opener(), arguments.workers)
            return
        continue_study(opener, arguments.workers)
        show_summary(opener().results)
    except PrunedBPEError as error:
        sys.exit(f"error: {error}")


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.language_model",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("--corpus", nargs="+", required=True, help="files and folders of text")
    option("--config", default="small", help="small, gpu, or a JSON file like configs/small.json")
    option("--tokenizer", type=Path, help="compare this tokenizer of yours ...")
    option("--against", type=Path, help="... with this one")
    option("--workers", type=int, default=1, help="runs at a time; default 1")
    option("--plan", action="store_true", help="print what is missing and how long it takes")
    option("--results", type=Path, help="folder of the JSON files; default: that of the study, "
           "or for two tokenizers of yours ./language-model")  # fmt: skip
    option("--cache", type=Path, default=CACHE, help=f"tokenizers, checkpoints; default {CACHE}")
    arguments = parser.parse_args()
    if (arguments.tokenizer is None) != (arguments.against is None):
        parser.error("--tokenizer and --against go together")
    if arguments.workers < 1:
        parser.error("--workers: at least 1")
    return arguments


if __name__ == "__main__":
    main()
