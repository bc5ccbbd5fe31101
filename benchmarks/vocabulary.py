"""The vocabulary that encoders are measured with, in every format that a library reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from common import DATA, file_hash
from peers.encoders import Files

VOCAB_SIZE = 32_768
PUBLISHED_CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def vocabulary_of(texts: Sequence[Path]) -> Path:
    """The folder of the vocabulary learned on the texts; made on first use."""
    name = hashlib.sha256("".join(map(file_hash, texts)).encode()).hexdigest()[:12]
    folder = DATA / f"vocabulary-{name}"
    if not (folder / "tokenizer.json").exists():
        _make(texts, Files(folder))
    return folder


def _make(texts: Sequence[Path], files: Files) -> None:
    """Standard BPE for all libraries; pruned to the same size for our own."""
    import prunedbpe
    from prunedbpe.exchange.huggingface_export import write_huggingface
    from prunedbpe.exchange.tiktoken_export import write_tiktoken

    for threshold, folder in (("40%", files.pruned), (0, files.standard)):
        tok = prunedbpe.train(
            texts, VOCAB_SIZE, threshold=threshold, special_tokens=(), pretokenizer="cl100k"
        )
        tok.save(folder)
    write_tiktoken(tok, files.tiktoken)
    write_huggingface(tok, files.json)
    # The export spells out every character class, so that results do not depend on the Unicode
    # version of the reader. Libraries recognise the published pattern and have fast code for it:
    # give them that one. The benchmark compares ids, so a difference would show.
    settings = json.loads(Path(files.json).read_text(encoding="utf-8"))
    for step in settings["pre_tokenizer"]["pretokenizers"]:
        if step["type"] == "Split":
            step["pattern"] = {"Regex": PUBLISHED_CL100K}
    Path(files.json).write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")
