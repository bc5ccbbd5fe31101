"""Run the command line in this process, and a small corpus to run it on."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
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
