"""Code written for tiktoken, run by a pruned tokenizer: one line changes."""

from __future__ import annotations

from pathlib import Path

import prunedbpe


def main() -> None:
    """Use the methods of a tiktoken encoding."""
    package = sorted(Path(prunedbpe.__file__).parent.rglob("*.py"))
    tok = prunedbpe.train(package, vocab_size=1_000, threshold="40%")

    enc = tok.as_tiktoken()  # was: enc = tiktoken.get_encoding("cl100k_base")

    ids = enc.encode("def encode(self, text): return ids")
    print(len(ids), "of", enc.n_vocab, "tokens:", enc.decode_tokens_bytes(ids)[:6])
    print(enc.encode("text<_EOS_>", allowed_special={"<_EOS_>"})[-1] == enc.eot_token)
    try:
        enc.encode("text<_EOS_>")
    except ValueError as error:
        print(str(error).splitlines()[0])


if __name__ == "__main__":
    main()
