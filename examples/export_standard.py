"""Export Standard BPE to tokenizers and tiktoken, and check that both encode as prunedbpe does.

Needs: tokenizers, tiktoken
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tokenizers import Tokenizer

import prunedbpe
from prunedbpe.errors import NotExactError
from prunedbpe.exchange.huggingface_export import write_huggingface
from prunedbpe.exchange.tiktoken_export import to_tiktoken


def main() -> None:
    """Compare three encoders of one vocabulary, then request an export that cannot be exact."""
    package = sorted(Path(prunedbpe.__file__).parent.rglob("*.py"))
    tok = prunedbpe.train(package, vocab_size=1_000, threshold=0)
    texts = [path.read_text("utf-8") for path in package]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        write_huggingface(tok, path)
        stock = Tokenizer.from_file(str(path))
    ours = tok.encode_batch(texts)
    plain = to_tiktoken(tok).encode_ordinary_batch(texts)
    # tokenizers always recognises special tokens in text.
    added = tok.encode_batch(texts, allowed_special="all")
    print("tiktoken equal:", plain == ours)
    print("tokenizers equal:", [one.ids for one in stock.encode_batch(texts)] == added)

    try:
        to_tiktoken(prunedbpe.train(package, vocab_size=1_000, threshold="40%"))
    except NotExactError as error:
        print(error)


if __name__ == "__main__":
    main()
