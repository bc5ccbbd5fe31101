"""Run the command line in this process, and a small corpus to run it on."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from chromium import BROWSER, REQUIRED, Page, open_browser
from cli_helpers import make_text

from prunedbpe.cli.main import run


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out_bytes: bytes
    err: str

    @property
    def out(self) -> str:
        return self.out_bytes.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Ended]


@pytest.fixture
def cli(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Call the command line: ``cli("count", path, ..., stdin=b"...", code=0)``."""

    def call(*words: object, stdin: bytes = b"", code: int = 0) -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        ended_with = run([str(word) for word in words])
        out, err = capfdbinary.readouterr()
        ended = Ended(ended_with, out, err.decode())
        assert ended.code == code, ended
        assert "Traceback" not in ended.err
        return ended

    return call


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three text files and one that is not UTF-8."""
    folder = tmp_path_factory.mktemp("corpus")
    for seed, name in enumerate(("a.txt", "b.txt", "c.txt")):
        Path(folder, name).write_text(make_text(seed, 400), encoding="utf-8")
    Path(folder, "bad.txt").write_bytes(b"caf\xe9\n")
    return folder


@pytest.fixture(scope="session")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``tok``, a tokenizer, and ``run``, the run directory it comes from."""
    folder = tmp_path_factory.mktemp("trained")
    words = f"train {corpus} --vocab-size 500 -q -o {folder}/tok --run-dir {folder}/run"
    assert run(words.split()) == 0
    return folder


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with explorers of one training, and the tokenizers they show."""
    folder = tmp_path_factory.mktemp("explore")
    corpus = folder / "texts"
    corpus.mkdir()
    for seed, name in enumerate(("a.txt", "b.txt", "c.txt")):
        (corpus / name).write_text(make_text(seed, 400), encoding="utf-8")
    made = [
        f"train {corpus} --vocab-size 500 --threshold auto --run-dir {folder}/run -q "
        f"-o {folder}/tok",
        f"prune {folder}/run --vocab-size 450 --threshold 40% -q -o {folder}/other",
        f"prune {folder}/run --vocab-size 500 --threshold auto --segmentation shortest -q "
        f"-o {folder}/shortest",
        f"explore {folder}/tok --run {folder}/run -q -o {folder}/by_run.html",
        f"explore {folder}/tok -q -o {folder}/alone.html",
        f"explore {folder}/shortest --corpus {corpus} -q -o {folder}/shortest.html",
        f"explore {folder}/tok --corpus {corpus} --against {folder}/other -q "
        f"-o {folder}/compared.html",
    ]
    for words in made:
        assert run(words.split()) == 0
    return folder


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Chromium, whose downloads go to ``browser.folder``."""
    if BROWSER is None and not REQUIRED:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    folder = tmp_path_factory.mktemp("browser")
    with ExitStack() as stack:
        try:
            page = stack.enter_context(open_browser(folder))
        except (AssertionError, OSError) as error:
            (pytest.fail if REQUIRED else pytest.skip)(f"the browser does not run: {error}")
        page.download_to(folder)
        yield page
