"""A small corpus and settings for the language-model study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studies.language_model.settings import CONFIGS, Settings
from studies.language_model.texts import Texts, read_texts

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Path:
    """The pages and the sources of this repository, as two parts; some text in other scripts."""
    folder = tmp_path_factory.mktemp("corpus")
    parts = {"pages": REPOSITORY.glob("docs/**/*.md"), "code": REPOSITORY.glob("src/**/*.py")}
    for part, paths in parts.items():
        (folder / part).mkdir()
        text = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(paths))
        text += "\n\n中文 日本語 кот γάτα 고양이 🙂 naïve" * 50
        (folder / part / "text.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def texts(corpus) -> Texts:
    return read_texts([corpus])


@pytest.fixture(scope="session")
def config(tmp_path_factory) -> Path:
    """The small configuration, made tiny."""
    values = json.loads((CONFIGS / "small.json").read_text(encoding="utf-8"))
    values |= {"name": "tiny", "sizes": [400], "byte_context_sizes": [400], "seeds": 2}
    values |= {"train_bytes": 40_000, "curve_points": 3, "curve_bytes": 4_000}
    values |= {"width": 16, "layers": 1, "heads": 2, "context_tokens": 32, "context_bytes": 96}
    values |= {"batch_rows": 8, "rows_at_once": 4, "warmup_steps": 3}
    path = tmp_path_factory.mktemp("config") / "tiny.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def settings(config) -> Settings:
    return Settings.load(config)
