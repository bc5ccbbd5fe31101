"""Train a pruned tokenizer, load it with AutoTokenizer, and train a tiny model for a few steps.

Needs: transformers, torch
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from transformers import (
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    GPT2Config,
    GPT2LMHeadModel,
)

import prunedbpe
from prunedbpe.integrations.transformers import PrunedBPETokenizer


def main() -> None:
    """Print the loss of the first and the last step."""
    package = sorted(Path(prunedbpe.__file__).parent.rglob("*.py"))
    with tempfile.TemporaryDirectory() as folder:
        tok = prunedbpe.train(package, vocab_size=1_000, threshold="40%")
        PrunedBPETokenizer.from_tokenizer(tok).save_pretrained(folder)
        tokenizer = AutoTokenizer.from_pretrained(folder)
    print(type(tokenizer).__name__, "with", len(tokenizer), "tokens")

    torch.manual_seed(0)
    texts = [path.read_text("utf-8")[:400] for path in package[:16]]
    rows = [
        {"input_ids": ids} for ids in tokenizer(texts, truncation=True, max_length=64)["input_ids"]
    ]
    batch = DataCollatorForLanguageModeling(tokenizer, mlm=False)(rows)
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=32, n_layer=1, n_head=2)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(8):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    print(f"loss {losses[0]:.2f} -> {losses[-1]:.2f}")


if __name__ == "__main__":
    main()
