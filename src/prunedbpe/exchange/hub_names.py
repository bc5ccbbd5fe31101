"""Names of repositories on the Hugging Face Hub: fetch the files of a tokenizer.

In: a name such as ``openai-community/gpt2``. Out: a local folder with the files that can hold a
tokenizer, from the cache if they are there. The package ``huggingface_hub`` does the work, with its
own settings for the cache, the token and working offline.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from prunedbpe.errors import FormatError, MissingExtraError

_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "tekken.json",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
    "inter_vocab.txt",
    "prunedbpe.json",
    "*.tiktoken",
    "tokenizer.model",
)
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", re.ASCII)
_FILE_ENDINGS = (".json", ".tiktoken", ".model", ".txt")


def is_hub_name(text: str) -> bool:
    """Whether a text can be the name of a repository, and not that of a tokenizer file.

    >>> [is_hub_name(text) for text in ("openai-community/gpt2", "gpt2", "./gpt2", "a.json")]
    [True, True, False, False]
    """
    return _NAME.fullmatch(text) is not None and not text.endswith(_FILE_ENDINGS)


def download(name: str) -> Path:
    """Return a folder with the tokenizer files of a repository.

    Raises:
        MissingExtraError: ``huggingface_hub`` is not installed.
        FormatError: There is no such repository, or it cannot be reached.
    """
    try:
        hub: Any = importlib.import_module("huggingface_hub")
    except ImportError as error:
        raise MissingExtraError(
            "huggingface_hub",
            "hub",
            f"There is no file or folder {name!r}; a tokenizer of the Hugging Face Hub",
        ) from error
    try:
        return Path(hub.snapshot_download(name, allow_patterns=list(_FILES)))
    except Exception as error:  # the package passes on whatever the network raises
        reason = str(error).split("\n")[0]
        raise FormatError(
            f"{name}: no such file or folder, and the Hugging Face Hub does not give it: "
            f"{type(error).__name__}: {reason}",
            hint="check the name, the network, and the access token for gated models",
        ) from error
