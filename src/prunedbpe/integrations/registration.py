"""Registering with transformers without importing it.

``AutoTokenizer`` must know our class before it meets a folder of ours, but a program that never
uses transformers must not pay for importing it. So ``import prunedbpe`` registers at once if
transformers has loaded its auto classes, and otherwise waits until it does.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    # Not as base classes: importing them loads shutil, lzma and more, half of all our import time.
    from importlib.abc import Loader

_AUTO_TOKENIZERS = "transformers.models.auto.tokenization_auto"


class _RegisteringLoader:
    """Runs a module as its own loader would, then registers."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _register()


class _WaitForTransformers:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _AUTO_TOKENIZERS:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = cast("Loader", _RegisteringLoader(spec.loader))
        return spec


def _register() -> None:
    # A version of transformers that the integration cannot use must still import for its users.
    with suppress(ImportError):
        importlib.import_module("prunedbpe.integrations.transformers")


def register_with_transformers() -> None:
    """Register now, or as soon as transformers loads its auto classes."""
    if _AUTO_TOKENIZERS in sys.modules:
        _register()
    elif not any(isinstance(finder, _WaitForTransformers) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WaitForTransformers())
