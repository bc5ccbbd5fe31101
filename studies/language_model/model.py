"""A small decoder-only transformer.

In: token ids, one row each. Out: a vector for each token, from which :meth:`Transformer.losses`
predicts the next one. Pre-norm, rotary positions, GELU; embeddings are not tied.

Models with different tokenizers begin as alike as they can: the layers are equal, a token that both
vocabularies hold has the same embedding, and all tokens are equally likely.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from prunedbpe.types import Int64Array

NOTHING = -100
"""Marks targets that do not count."""

EMBEDDING_SCALE = 0.02
"""Standard deviation of the numbers in an initial embedding."""


class Attention(nn.Module):
    """Causal attention of several heads, positions by rotation."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.inputs = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor, turn: Tensor) -> Tensor:
        """A vector for each token, from those up to it."""
        rows, length, width = x.shape
        split = self.inputs(x).view(rows, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        mixed = attend(rotate(query, turn), rotate(key, turn), value)
        return self.output(mixed.transpose(1, 2).reshape(rows, length, width))


class Layer(nn.Module):
    """Attention, then two matrices with GELU between; each adds to its input."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(width)
        self.attention = Attention(width, heads)
        self.norm = nn.RMSNorm(width)
        self.inner = nn.Linear(width, 4 * width, bias=False)
        self.output = nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor, turn: Tensor) -> Tensor:
        """The same tokens, one layer later."""
        x = x + self.attention(self.attention_norm(x), turn)
        return x + self.output(functional.gelu(self.inner(self.norm(x))))


class Transformer(nn.Module):
    """The model.

    Args:
        tokens: What each token spells; the rows of both embeddings.
        width: Of the vectors.
        layers: How many.
        heads: Of each layer; ``width / heads`` is even.
        seed: Of the initial weights.
    """

    def __init__(
        self, tokens: Sequence[bytes], width: int, layers: int, heads: int, seed: int
    ) -> None:
        super().__init__()
        self.head_width = width // heads
        self.embedding = nn.Embedding.from_pretrained(
            initial_embedding(tokens, width, seed), freeze=False
        )
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.RMSNorm(width)
        self.prediction = nn.Linear(width, len(tokens), bias=False)
        self._initialize(layers, seed)

    def _initialize(self, layers: int, seed: int) -> None:
        nn.init.zeros_(self.prediction.weight)
        generator = torch.Generator().manual_seed(seed)
        for name, weights in self.layers.named_parameters():
            if weights.dim() == 2:
                # What a layer adds to its input is small, so that deep models begin stable.
                depth = 2 * layers if name.endswith("output.weight") else 1
                scale = 1 / math.sqrt(weights.shape[1] * depth)
                nn.init.normal_(weights, std=scale, generator=generator)

    def forward(self, ids: Tensor) -> Tensor:
        """A vector for each token, from it and those before it."""
        turn = rotations(ids.shape[1], self.head_width, ids.device)
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, turn)
        return self.norm(x)

    def losses(self, ids: Tensor, targets: Tensor) -> Tensor:
        """Nats of each target that counts, in order; logits exist for these alone."""
        counted = targets != NOTHING
        logits = self.prediction(self(ids)[counted])
        return functional.cross_entropy(logits.float(), targets[counted], reduction="none")

    def matrices(self) -> list[nn.Parameter]:
        """The weights of the layers that are matrices."""
        return [weights for weights in self.layers.parameters() if weights.dim() == 2]


def initial_embedding(tokens: Sequence[bytes], width: int, seed: int) -> Tensor:
    """A row for each token, decided by its bytes and the seed alone; evenly distributed numbers.

    >>> few, more = (initial_embedding(tokens, 4, 1) for tokens in ([b"at"], [b"a", b"at"]))
    >>> torch.equal(few[0], more[1])
    True
    """
    digests = (hashlib.shake_128(b"%d %b" % (seed, token)).digest(2 * width) for token in tokens)
    numbers = np.frombuffer(b"".join(digests), ">u2").reshape(-1, width)
    even = (numbers + 0.5) / 65_536 - 0.5
    return torch.tensor(even * (EMBEDDING_SCALE * math.sqrt(12)), dtype=torch.float32)


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Each position's mean of the values up to it, weighted by how well its query fits their keys.

    On a CPU, plain matrix products train a model of the study in three quarters of the time of
    torch's fused kernel; on a GPU the fused one is faster and needs less memory.
    """
    if query.device.type != "cpu":
        return functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    length, width = query.shape[-2:]
    later = query.new_full((length, length), -math.inf).triu(1)
    scores = query * width**-0.5 @ key.transpose(-2, -1) + later
    with torch.autocast("cpu", enabled=False):  # which would make float32 of the weights
        return scores.softmax(-1) @ value


def rotations(length: int, head_width: int, device: torch.device) -> Tensor:
    """Cosine and sine of the angle of each position and pair of dimensions."""
    speeds = 10_000.0 ** -(torch.arange(0, head_width, 2, device=device) / head_width)
    angles = torch.outer(torch.arange(length, device=device), speeds)
    return torch.stack([angles.cos(), angles.sin()])


def rotate(x: Tensor, turn: Tensor) -> Tensor:
    """Turn each pair of dimensions by the angle of its position."""
    cosine, sine = turn.to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)


def row_flops(lengths: Int64Array, width: int, layers: int, vocab_size: int) -> Int64Array:
    """FLOPs to train on rows of some lengths: every weight of a matrix six times, and attention.

    >>> import numpy as np
    >>> row_flops(np.array([1, 2]), width=2, layers=1, vocab_size=10).tolist()
    [420, 864]
    """
    weights = layers * 12 * width**2 + width * vocab_size
    return 6 * lengths * weights + 6 * layers * width * lengths**2
