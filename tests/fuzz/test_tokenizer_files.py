"""Tokenizers from damaged files: they load and round-trip, or the error names file and place.

Every kind of file is damaged in two ways: anywhere in its bytes, and in the meaning of its JSON.
Faults in the meaning go to one part at a time, so that ids and added tokens get as many as the
merges, which are most of the file.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fuzz.law import SEEDS, check_tokenizer
from fuzz.mutations import damaged_bytes, damaged_json
from random_texts import random_texts

import prunedbpe
from prunedbpe.exchange.byte_alphabet import to_byte_alphabet
from prunedbpe.exchange.huggingface_export import huggingface_settings
from prunedbpe.exchange.importing import import_tokenizer
from prunedbpe.exchange.tiktoken_export import write_tiktoken
from prunedbpe.pretokenizers import Pretokenizer
from prunedbpe.pretokenizers.patterns import CL100K_PATTERN
from prunedbpe.tokenizer import Tokenizer
from prunedbpe.vocabulary import vocabulary_files

pytestmark = pytest.mark.filterwarnings("ignore")  # of patterns, and of other Unicode versions

CORPUS = random_texts(300)
PATTERN = r"'(?i:[sdmt]|ll|ve|re)|\p{L}{1,30}|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++|\s+(?!\S)|\s"


def train(pretokenizer: str | Pretokenizer = "gpt2", threshold: str = "0") -> Tokenizer:
    return prunedbpe.train(
        iter(CORPUS), vocab_size=330, threshold=threshold, pretokenizer=pretokenizer
    )


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), "utf-8")


def bpe(folder: Path) -> None:
    """A ``tokenizer.json`` as other libraries write it: a pattern, NFC, tokens beyond merges."""
    settings = huggingface_settings(train())
    split = {
        "type": "Split",
        "pattern": {"Regex": PATTERN},
        "behavior": "Isolated",
        "invert": False,
    }
    steps = [split, byte_level(use_regex=False)]
    settings["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    settings["normalizer"] = {"type": "NFC"}
    settings["model"]["ignore_merges"] = True
    vocab, added = settings["model"]["vocab"], settings["added_tokens"]
    vocab["Ġcatcat"] = len(vocab)
    for entry in added:
        entry["id"] += 1
    write_json(folder / "tokenizer.json", settings)


def unigram(folder: Path) -> None:
    tok = train("paper", "40%")
    tok = Tokenizer(tok.vocabulary, tok.pretokenizer, tok.training, "shortest")
    settings = {**huggingface_settings(tok), "pre_tokenizer": byte_level(use_regex=True)}
    write_json(folder / "tokenizer.json", settings)


def byte_level(*, use_regex: bool) -> dict[str, Any]:
    options = {"add_prefix_space": False, "trim_offsets": False, "use_regex": use_regex}
    return {"type": "ByteLevel", **options}


def gpt2_files(folder: Path) -> None:
    tok = train()
    names = [to_byte_alphabet(string) for string in tok.vocabulary.strings]
    ids = {name: place for place, name in enumerate([*names, *tok.special_tokens])}
    write_json(folder / "vocab.json", ids)
    lines = [f"{names[left]} {names[right]}" for left, right in tok.vocabulary.pairs.tolist()]
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *lines, ""]), "utf-8")


def ranks(folder: Path) -> None:
    write_tiktoken(train("cl100k"), folder / "mine.tiktoken")
    described = folder / "mine.tiktoken.json"
    write_json(described, {**json.loads(described.read_bytes()), "pat_str": CL100K_PATTERN})


def tekken(folder: Path) -> None:
    strings = train().vocabulary.strings
    entries = [
        {"rank": rank, "token_bytes": base64.b64encode(string).decode(), "token_str": None}
        for rank, string in enumerate(strings)
    ]
    config = {"pattern": PATTERN, "default_num_special_tokens": 25}
    config["default_vocab_size"] = 25 + len(entries)
    write_json(folder / "tekken.json", {"config": config, "vocab": entries})


def steps(folder: Path) -> None:
    """Several pretokenizers, and NFKC."""
    bpe(folder)
    settings = json.loads((folder / "tokenizer.json").read_bytes())
    digits = {"type": "Digits", "individual_digits": True}
    settings["pre_tokenizer"]["pretokenizers"].insert(0, digits)
    settings["normalizer"] = {"type": "NFKC"}
    write_json(folder / "tokenizer.json", settings)


def saved_steps(folder: Path) -> None:
    steps(folder)
    import_tokenizer(folder).save(folder)
    (folder / "tokenizer.json").unlink()


def saved_import(folder: Path) -> None:
    bpe(folder)
    import_tokenizer(folder).save(folder)
    (folder / "tokenizer.json").unlink()


def saved_rank(folder: Path) -> None:
    train(Pretokenizer("regex", PATTERN), "40%").save(folder)


def saved_shortest(folder: Path) -> None:
    tok = train("paper", "40%")
    Tokenizer(tok.vocabulary, tok.pretokenizer, tok.training, "shortest").save(folder)


FILES: list[tuple[Callable[[Path], None], str]] = [
    (bpe, "tokenizer.json"),
    (unigram, "tokenizer.json"),
    (gpt2_files, "vocab.json"),
    (gpt2_files, "merges.txt"),
    (ranks, "mine.tiktoken"),
    (ranks, "mine.tiktoken.json"),
    (tekken, "tekken.json"),
    (steps, "tokenizer.json"),
    (saved_steps, "prunedbpe.json"),
    (saved_import, "prunedbpe.json"),
    (saved_import, "vocab.txt"),
    (saved_rank, "prunedbpe.json"),
    (saved_rank, "vocab.txt"),
    (saved_rank, "inter_vocab.txt"),
    (saved_shortest, "prunedbpe.json"),
    (saved_shortest, "vocab.txt"),
]


def check(damage: Callable[[int], bytes], file: Path) -> None:
    """Check the law for all seeds, and sometimes that what loaded can be saved and loads again."""
    folder = file.parent
    names = list(folder.iterdir())
    assert check_tokenizer(lambda: import_tokenizer(folder))
    for seed in SEEDS:
        file.write_bytes(damage(seed))
        try:
            loaded = check_tokenizer(lambda: import_tokenizer(folder), *names)
            if loaded and seed % 16 == 0:  # saving waits for the disk
                import_tokenizer(folder).save(folder / "again")
                assert check_tokenizer(lambda: import_tokenizer(folder / "again"))
        except BaseException as error:
            error.args = (f"seed {seed}: {error!r}",)
            raise


@pytest.mark.parametrize(("make", "name"), FILES)
def test_damaged_bytes(make: Callable[[Path], None], name: str, tmp_path: Path) -> None:
    make(tmp_path)
    data = (tmp_path / name).read_bytes()
    check(lambda seed: damaged_bytes(data, seed), tmp_path / name)


@pytest.mark.parametrize(("make", "name"), [entry for entry in FILES if entry[1].endswith("json")])
def test_damaged_json(make: Callable[[Path], None], name: str, tmp_path: Path) -> None:
    make(tmp_path)
    value = json.loads((tmp_path / name).read_bytes())
    check(lambda seed: damaged_part(value, seed), tmp_path / name)


def damaged_part(value: dict[str, Any], seed: int) -> bytes:
    """Damage one value of an object, at the first or the second level, or the whole object."""
    rng = random.Random(seed)
    value = json.loads(json.dumps(value))
    owner = value["model"] if "model" in value and rng.random() < 0.5 else value
    parts = [key for key, part in owner.items() if isinstance(part, (dict, list)) and part]
    key = rng.choice([None, *parts])
    if key is None:
        return damaged_json(value, seed)
    owner[key] = json.loads(damaged_json(owner[key], seed))
    return json.dumps(value).encode()


def test_damaged_patterns(tmp_path: Path) -> None:
    """A pattern in the settings is a regular expression that we run, or an error."""
    saved_rank(tmp_path)
    path = tmp_path / "prunedbpe.json"
    settings = json.loads(path.read_bytes())

    def damage(seed: int) -> bytes:
        pattern = (PATTERN, CL100K_PATTERN)[seed % 2].encode()
        settings["pretokenizer"]["pattern"] = damaged_bytes(pattern, seed).decode(
            "utf-8", "replace"
        )
        return json.dumps(settings).encode()

    check(damage, path)


def test_both_readers_of_vocabularies_agree(tmp_path: Path) -> None:
    """What the quick reader accepts, the careful one accepts too, and finds the same."""
    saved_rank(tmp_path)
    file = tmp_path / "vocab.txt"
    data = file.read_bytes()
    for seed in SEEDS:
        file.write_bytes(damaged_bytes(data, seed))
        quick = vocabulary_files._read_quickly(tmp_path)
        if quick is not None:
            careful = vocabulary_files._read_with_care(tmp_path)
            assert quick.strings == careful.strings, seed
            assert quick.visible.tolist() == careful.visible.tolist()
            assert quick.special_tokens == careful.special_tokens
