"""``prunedbpe doctor``: what is installed here, and whether it works."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
from pathlib import Path

import typer

from prunedbpe import __version__
from prunedbpe._support.memory import machine_memory
from prunedbpe._support.sizes import format_size
from prunedbpe._support.threads import worker_count
from prunedbpe.cli import options
from prunedbpe.cli.terminal import error, hint, print_facts, print_json, print_line, print_table
from prunedbpe.types import Settings

_CORE_PACKAGES = ("numpy", "pyarrow", "typer", "rich")
_DEVELOPMENT = ("bench", "test", "test-integrations", "test-engines", "lint", "docs")
"""Extras of those who work on the library itself."""

_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^]]*\])?[^;]*;.*extra == ['\"]([\w-]+)['\"]")
_FAST = ("avx2", "bmi1", "bmi2", "popcnt")
"""What the core needs for its fast paths on x86; elsewhere it runs portable code."""

_SAMPLE = "the cat in the hat, naïve 中文 text"


def command(as_json: options.AsJson = False) -> None:
    """Check this installation: versions, CPU, memory, extras.

    Trains a tiny tokenizer and encodes with it. Ends with 1 if that fails.

    \b
    prunedbpe doctor
    """
    found = examine()
    if as_json:
        print_json(found)
    else:
        _show(found)
    if found["problem"]:
        raise typer.Exit(1)


def examine() -> Settings:
    """Return all findings as JSON."""
    temporary = Path(tempfile.gettempdir())
    return {
        "prunedbpe": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: _version(name) for name in _CORE_PACKAGES},
        "cpu": {
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "threads": worker_count(None),
            "features": _cpu_features(),
        },
        "memory": machine_memory(),
        "temporary_folder": {
            "path": str(temporary),
            "free": shutil.disk_usage(temporary).free,
        },
        "encoding": {"files": sys.getfilesystemencoding(), "output": sys.stdout.encoding},
        "extras": _extras(),
        "problem": _problem(),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _extras() -> dict[str, dict[str, str | None]]:
    """The extras a user may want: the packages of each, and their versions."""
    try:
        requirements = importlib.metadata.requires("prunedbpe") or []
    except importlib.metadata.PackageNotFoundError:  # run from a checkout
        return {}
    extras: dict[str, dict[str, str | None]] = {}
    for requirement in requirements:
        match = _REQUIREMENT.match(requirement)
        if match and match[2] not in _DEVELOPMENT and match[1] != "prunedbpe":
            extras.setdefault(match[2], {})[match[1]] = _version(match[1])
    return extras


def _cpu_features() -> list[str] | None:
    """Which instructions for the fast paths this CPU has; ``None`` if unknown."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    known = set(found[1].split()) if found else set()
    return [name for name in _FAST if name in known]


def _problem() -> str | None:
    """Train, encode and decode; say what went wrong."""
    try:
        import prunedbpe

        tok = prunedbpe.train([_SAMPLE] * 3, vocab_size=270, threshold=0, progress=False)
        text = tok.decode(tok.encode(_SAMPLE))
    except Exception as failure:
        return f"{type(failure).__name__}: {failure}"
    return None if text == _SAMPLE else f"a text came back as {text!r}"


def _show(found: Settings) -> None:
    cpu = found["cpu"]
    features = cpu["features"]
    if features is None:
        fast = "features unknown"
    elif set(features) == set(_FAST):
        fast = f"fast paths with {', '.join(features)}"
    else:
        fast = "portable code, without AVX2"
    temporary = found["temporary_folder"]
    print_facts(
        [
            ("prunedbpe", found["prunedbpe"]),
            ("python", f"{found['python']}, {found['system']}"),
            *((name, version or "not installed") for name, version in found["packages"].items()),
            ("cpu", f"{cpu['machine']}, {cpu['cores']} cores, {cpu['threads']} threads, {fast}"),
            ("memory", f"{format_size(found['memory'])} that this process may use"),
            ("temporary files", f"{temporary['path']}, {format_size(temporary['free'])} free"),
            ("encoding", f"files {found['encoding']['files']}, out {found['encoding']['output']}"),
        ]
    )
    print_line()
    rows = [("extra", "packages")]
    for name, packages in found["extras"].items():
        rows.append((name, ", ".join(f"{p} {v or 'missing'}" for p, v in packages.items())))
    print_table(rows)
    if not all(version for packages in found["extras"].values() for version in packages.values()):
        print_line("to install what is missing: pip install 'prunedbpe[EXTRA]'")
    print_line()
    if found["problem"]:
        error(f"encoding does not work: {found['problem']}")
        hint("install prunedbpe again; if that does not help, report this output")
    else:
        print_line("a tokenizer was trained, and encodes and decodes: all is well")
