"""README and guides as tests: run the Python and shell blocks of each page, in order.

Every page gets a folder of its own with the example corpus in ``texts/``, made by the command of
the quickstart. Blocks marked ``python`` share one namespace; bash runs the blocks marked ``sh``
with the installed ``prunedbpe``. Blocks that must not run (installation, output) have another mark.
A page whose blocks need more than the corpus prepares it in a comment ``prepare``.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", DOCS / "index.md", *sorted((DOCS / "guides").glob("*.md"))]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLE_CORPUS = re.compile(r"^## Example corpus\n.*?^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def page_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a page, with the example corpus of the quickstart."""
    monkeypatch.chdir(tmp_path)
    command = EXAMPLE_CORPUS.search((DOCS / "guides" / "quickstart.md").read_text(encoding="utf-8"))
    assert command
    run_shell(command[1], "quickstart.md, example corpus")
    assert len(list((tmp_path / "texts").glob("*.py"))) > 100
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run(page: Path, page_folder: Path) -> None:
    text = page.read_text(encoding="utf-8")
    needs = re.search(r"^<!-- needs: (.*) -->$", text, re.MULTILINE)
    for package in needs[1].split(", ") if needs else ():
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    prepare = re.search(r"^<!-- prepare:\n(.*?)-->$", text, re.MULTILINE | re.DOTALL)
    if prepare:
        run_shell(prepare[1], f"{page.name}, prepare")
    names: dict[str, object] = {"__name__": "__page__"}
    blocks = list(BLOCK.finditer(text))
    assert blocks, "a page without a block that runs"
    for block in blocks:
        line = text.count("\n", 0, block.start(2))
        if block[1] == "python":
            code = compile("\n" * line + block[2], str(page), "exec")
            exec(code, names)
        else:
            run_shell(block[2], f"{page.name}, line {line + 1}")


def run_shell(commands: str, place: str) -> None:
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{place}\n{commands}\n{done.stdout}\n{done.stderr}"


def test_links_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    missing = [target for target in targets if "://" not in target and not (ROOT / target).exists()]
    assert not missing
