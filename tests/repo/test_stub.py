"""The committed stub matches the native module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import prunedbpe

STUB = Path(__file__).parents[2] / "src" / "prunedbpe" / "_core.pyi"


def test_stub_is_fresh(tmp_path):
    pytest.importorskip("nanobind", reason="nanobind generates the stub")
    fresh = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-m", "prunedbpe._core", "-o", str(fresh)],
        check=True,
        capture_output=True,
    )
    assert fresh.read_text(encoding="utf-8") == STUB.read_text(encoding="utf-8"), "run `make stubs`"


def test_typed_marker_exists():
    assert STUB.with_name("py.typed").is_file()
    assert set(prunedbpe.__all__) <= set(dir(prunedbpe))
