"""Train a pruned tokenizer on a few texts, save it, load it, use it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import prunedbpe


def main() -> None:
    """Train on the sources of this package; any list of files, folders or strings will do."""
    package = Path(prunedbpe.__file__).parent
    corpus = sorted(package.rglob("*.py"))
    tok = prunedbpe.train(corpus, vocab_size=1_000, threshold="40%")
    print(tok)

    with tempfile.TemporaryDirectory() as folder:
        tok.save(folder)
        tok = prunedbpe.Tokenizer.load(folder)

    text = "Encode a text, decode the ids."
    ids = tok.encode(text)
    print(ids)
    print([tok.token_bytes(token_id) for token_id in ids])
    assert tok.decode(ids) == text

    # Ids never reach the internal tokens, and special tokens are ordinary text unless allowed.
    assert max(ids) < tok.vocab_size
    print(tok.encode("<_EOS_>"), tok.encode("<_EOS_>", allowed_special="all"))


if __name__ == "__main__":
    main()
