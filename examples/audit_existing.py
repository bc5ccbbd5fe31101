"""Import a stock tokenizer.json and report which of its tokens a text really uses.

Needs: tokenizers
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import prunedbpe
from prunedbpe.analysis.auditing import audit, reallocate_slots


def main() -> None:
    """Audit a tokenizer for English prose on Python code, and reallocate its idle slots."""
    here = sorted(Path(prunedbpe.__file__).parent.rglob("*.py"))
    prose = [
        line for path in here for line in path.read_text("utf-8").splitlines() if '"""' in line
    ]
    stock = Tokenizer(models.BPE())
    stock.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    stock.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    stock.train_from_iterator(
        prose,
        trainers.BpeTrainer(vocab_size=1_000, initial_alphabet=alphabet, show_progress=False),
    )
    with tempfile.TemporaryDirectory() as folder:
        stock.save(str(Path(folder, "tokenizer.json")))
        tok = prunedbpe.import_tokenizer(folder)

    code = [Path(module).read_text("utf-8") for module in (tempfile.__file__, str(here[0]))]
    found = audit(tok, iter(code))
    print(f"{len(found.never)} of {len(found.learned)} learned tokens are never used")
    print("for instance", [use.spelled for use in found.never[:5]])
    new, ids, report = reallocate_slots(tok, iter(code))
    print(f"{found.tokens} tokens before, {report.tokens} after, at {new.vocab_size} ids")
    print(f"{len(ids.kept)} rows of a model stay, {len(ids.new)} are new")


if __name__ == "__main__":
    main()
