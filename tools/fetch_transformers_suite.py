"""Fetch the tokenizer tests of the installed transformers: its wheel does not hold them.

    python tools/fetch_transformers_suite.py build/transformers-suite

Downloads the source distribution of that version from the package index and unpacks the three
files of tests that ``tests/integrations/test_transformers_suite.py`` runs. Does nothing if the
folder has them.
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

FILES = (
    "test_tokenization_common.py",
    "test_tokenizers_backend_mixin.py",
    "test_sentencepiece_backend_mixin.py",
)


def main() -> None:
    """Fetch into the folder that the command line names."""
    version = importlib.metadata.version("transformers")
    folder = Path(sys.argv[1])
    mark = folder / "version.txt"
    if mark.exists() and mark.read_text("utf-8") == version:
        return
    tests = folder / "tests"  # transformers looks for a folder of this name
    tests.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q"]
        source = ["--no-deps", "--no-binary", ":all:", "-d", temporary, f"transformers=={version}"]
        subprocess.run([*pip, *source], check=True)
        (archive,) = Path(temporary).glob("transformers-*.tar.gz")
        with tarfile.open(archive) as tar:
            for name in FILES:
                member = tar.extractfile(f"transformers-{version}/tests/{name}")
                assert member is not None
                (tests / name).write_bytes(member.read())
    (tests / "__init__.py").touch()
    mark.write_text(version, "utf-8")


if __name__ == "__main__":
    main()
