"""Live examples for the gallery: an explorer and a report, made from Python's standard library.

A Sphinx extension. Before the pages are built, it runs the commands that the gallery shows and
writes their pages into ``gallery/`` of the site. What exists is kept, so only the first build takes
longer, under a minute on two cores. Nothing of it is committed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

COMMANDS = """
train texts --vocab-size 4000 --threshold auto --segmentation shortest --run-dir run -o tok --quiet
explore tok --run run -o explorer.html
paper --corpus I=first --corpus II=second --sizes 2000,4000 -o study --quiet
""".strip()


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("builder-inited", make_examples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def make_examples(app: Any) -> None:
    """Write the examples into the site, unless they are there."""
    gallery = Path(app.outdir) / "gallery"
    if app.builder.format != "html" or gallery.exists():
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_texts(folder)
        for command in COMMANDS.splitlines():
            program = [sys.executable, "-m", "prunedbpe", *command.split()]
            subprocess.run(program, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        made = folder / "made"
        (made / "study").mkdir(parents=True)
        shutil.copy(folder / "explorer.html", made)
        shutil.copy(folder / "study" / "index.html", made / "study")
        shutil.copytree(made, gallery)


def copy_texts(folder: Path) -> None:
    """Copy the example corpus to ``texts``, and its two halves to ``first`` and ``second``."""
    modules = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    for name in ("texts", "first", "second"):
        (folder / name).mkdir()
    for module in modules:
        half = "first" if module.name < "m" else "second"
        shutil.copy(module, folder / "texts")
        shutil.copy(module, folder / half)
