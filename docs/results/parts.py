"""What the gain of pruning depends on: parts of the corpus of the study, at one size and threshold.

    python docs/results/parts.py [CORPUS_FOLDER]

Prints a Markdown table: gain against Standard BPE and share of internal tokens, 12,000 visible
tokens, 40 %, for random samples of the whole corpus, for each kind of text, and for samples of the
same length from few and from many sources (files).
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import mean

import prunedbpe
from prunedbpe.visibility.exposure import encoded_length

VOCAB_SIZE, THRESHOLD = 12_000, "40%"
SAMPLE_BYTES, DRAWS = 5_000_000, 5


def main() -> None:
    """Print the rows, one after the other."""
    default = Path.home() / ".cache/prunedbpe/corpora/A"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    sources = {
        path: path.read_text(encoding="utf-8").split("\n") for path in sorted(folder.glob("*/*"))
    }

    def kind(*names: str) -> list[str]:
        return [text for path in sources if path.parent.name in names for text in sources[path]]

    whole = kind(*{path.parent.name for path in sources})
    print("| text | MB | 40 % saves | internal |\n| --- | ---: | ---: | ---: |")
    show("all", [measure(whole)])
    for name, share in (("half", 0.5), ("quarter", 0.25), ("tenth", 0.1)):
        chosen = random.Random(0).sample(whole, int(len(whole) * share))
        show(f"a random {name} of all documents", [measure(chosen)])
    show("English and Chinese", [measure(kind("english", "chinese"))])
    for name in ("english", "chinese", "multilingual", "code"):
        show(name, [measure(kind(name))])
    for count in (3, 6, 12, 24, len(sources)):
        draws = [
            measure(draw(list(sources.values()), count, seed))
            for seed in range(DRAWS if count < len(sources) else 1)
        ]
        show(f"{count} sources drawn at random, mean of {len(draws)}", draws)


def draw(sources: list[list[str]], count: int, seed: int) -> list[str]:
    """Documents of some sources, drawn at random, about as many bytes of each."""
    rng = random.Random(seed)
    chosen = []
    for source in rng.sample(sources, count):
        room = SAMPLE_BYTES / count
        for text in rng.sample(source, len(source)):
            if room <= 0:
                break
            room -= len(text.encode())
            chosen.append(text)
    return chosen


def measure(texts: Iterable[str]) -> tuple[float, float, float]:
    """Megabytes, percentage saved and percentage internal."""
    counts = prunedbpe.count(iter(texts))
    merges = prunedbpe.learn(counts, VOCAB_SIZE + 2000)
    lengths = []
    for threshold in (0, THRESHOLD):
        vocabulary = prunedbpe.prune(merges, VOCAB_SIZE, threshold=threshold).vocabulary
        lengths.append(encoded_length(merges.pairs, merges.applied, ~vocabulary.visible))
    saved = 1 - lengths[1] / lengths[0]
    internal = vocabulary.internal_count / len(vocabulary.pairs)
    return counts.total_bytes / 1e6, 100 * saved, 100 * internal


def show(name: str, found: list[tuple[float, float, float]]) -> None:
    """Print a row, the mean of what was found."""
    size, saved, internal = (mean(column) for column in zip(*found, strict=True))
    print(f"| {name} | {size:.1f} | {saved:.2f} % | {internal:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
