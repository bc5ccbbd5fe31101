"""Damaged encoded files: every document can be read and has ids in range, or the file is named."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz.law import SEEDS, time_limit
from fuzz.mutations import damaged_bytes, damaged_json

import prunedbpe
from prunedbpe.encoded import FILE_FORMATS, encode_corpus, open_encoded, read_documents
from prunedbpe.encoded.writer import FLAT_FORMATS, output_files
from prunedbpe.errors import FormatError

TEXTS = ["the cat in the hat", "", "that cat, 中文 and the bat", "x" * 300, "hat\n"] * 3
ALL_IDS = 1 << 32
ONE_NAME = [format_ for format_ in FILE_FORMATS if format_ not in ("megatron", "mds")]


@pytest.fixture(scope="module")
def tok() -> prunedbpe.Tokenizer:
    return prunedbpe.train(iter(TEXTS), vocab_size=280, threshold=0)


@pytest.fixture(scope="module")
def encoded(tok: prunedbpe.Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the texts in every format; and ``stream.npy``, as on standard output."""
    folder = tmp_path_factory.mktemp("encoded")
    for format_ in ONE_NAME:
        encode_corpus(tok, iter(TEXTS), folder / f"a.{format_}")
    with (folder / "stream.npy").open("wb") as stream:
        encode_corpus(tok, iter(TEXTS), stream, "npy")
    return folder


def check_law(path: Path) -> bool:
    """Read the documents in every way; return whether it worked."""
    with time_limit():
        try:
            highest = -1
            for _, ids in read_documents(path):
                assert all(int(token_id) >= 0 for token_id in ids)
                highest = max([highest, *map(int, ids)])
            assert highest < limit_of(path)
            if path.with_name(path.name + ".meta.json").exists():
                documents = open_encoded(path, verify=True)
                offsets = documents.offsets.tolist()
                assert offsets == sorted(offsets) and offsets[0] == 0
                assert offsets[-1] == len(documents.ids)
        except FormatError as error:
            assert path.name in error.message, f"no file named: {error}"
            return False
    return True


def limit_of(path: Path) -> int:
    """The vocabulary size in the metadata of a file that could be read; 2**32 without metadata."""
    metadata = path.with_name(path.name + ".meta.json")
    if metadata.exists():
        return int(json.loads(metadata.read_bytes())["settings"]["vocab_size"])
    if path.suffix not in (".parquet", ".arrow"):
        return ALL_IDS
    try:
        schema = (
            pq.read_schema(path) if path.suffix == ".parquet" else pa.ipc.open_file(path).schema
        )
    except (pa.ArrowException, OSError):
        return ALL_IDS  # so damaged that it was read as text
    described = (schema.metadata or {}).get(b"prunedbpe")
    return ALL_IDS if described is None else json.loads(described)["settings"]["vocab_size"]


@pytest.mark.parametrize("name", [*(f"a.{format_}" for format_ in ONE_NAME), "stream.npy"])
@pytest.mark.filterwarnings("ignore:Reading .npy:UserWarning")  # NumPy, on a header of Python 2
def test_damage(encoded: Path, tmp_path: Path, name: str) -> None:
    """One of the files of a set is damaged, at random; the metadata also in their meaning."""
    path = tmp_path / name
    format_ = name.removeprefix("a.")
    files = output_files(Path(name), format_) if format_ in FLAT_FORMATS else [Path(name)]
    whole = {file.name: (encoded / file.name).read_bytes() for file in files}
    refused = 0
    for seed in SEEDS:
        victim = random.Random(seed).choice(list(whole))
        for other, data in whole.items():
            (tmp_path / other).write_bytes(data)
        if victim.endswith(".json") and seed % 2:
            damaged = damaged_json(json.loads(whole[victim]), seed)
        else:
            damaged = damaged_bytes(whole[victim], seed)
        (tmp_path / victim).write_bytes(damaged)
        try:
            refused += not check_law(path)
        except Exception as error:
            raise AssertionError(f"{victim}, seed {seed}: {error!r}") from error
    assert refused > len(SEEDS) // 4


@pytest.mark.parametrize("is_ours", [True, False], ids=["ours", "foreign"])
@pytest.mark.parametrize("format_", ["megatron", "mds"])
def test_damage_of_training_files(
    tok: prunedbpe.Tokenizer, tmp_path: Path, format_: str, is_ours: bool
) -> None:
    """One file is damaged; those of other programs come without our metadata."""
    path = tmp_path / ("a.idx" if format_ == "megatron" else "a.mds")
    encode_corpus(tok, iter(TEXTS), path)
    if not is_ours and format_ == "megatron":
        (tmp_path / "a.idx.meta.json").unlink()
    if not is_ours and format_ == "mds":
        index = json.loads((path / "index.json").read_text())
        del index["prunedbpe"]
        (path / "index.json").write_text(json.dumps(index))
    whole = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    refused = 0
    for seed in SEEDS:
        victim = random.Random(seed).choice(sorted(whole))
        for file, data in whole.items():
            file.write_bytes(data)
        if victim.suffix == ".json" and seed % 2:
            victim.write_bytes(damaged_json(json.loads(whole[victim]), seed))
        else:
            victim.write_bytes(damaged_bytes(whole[victim], seed))
        try:
            with time_limit():
                for _, ids in read_documents(path):
                    assert all(0 <= int(token_id) < ALL_IDS for token_id in ids)
        except FormatError as error:
            assert "a." in error.message
            refused += 1
        except Exception as error:
            raise AssertionError(f"{victim}, seed {seed}: {error!r}") from error
    assert refused > len(SEEDS) // 4


def test_ids_out_of_range_are_named(tok: prunedbpe.Tokenizer, tmp_path: Path) -> None:
    """Files whose checksums are right and whose ids are wrong: the metadata name the limit."""
    for format_ in ("npy", "bin"):
        path = tmp_path / f"a.{format_}"
        encode_corpus(tok, iter(["a", "hat", "b"]), path)
        metadata = json.loads((tmp_path / f"a.{format_}.meta.json").read_text())
        metadata["settings"]["vocab_size"] = 100  # "hat" has letters above it
        (tmp_path / f"a.{format_}.meta.json").write_text(json.dumps(metadata))
        documents = open_encoded(path)
        assert documents[0].tolist() == [97]
        with pytest.raises(FormatError, match=rf"a\.{format_}, document 2: \d+ is not a token id"):
            documents[1]
        with pytest.raises(FormatError, match="document 2"):
            list(read_documents(path))


@pytest.mark.parametrize("format_", ["npy", "bin"])
def test_a_changed_byte_in_the_middle_of_a_large_file(
    tok: prunedbpe.Tokenizer, tmp_path: Path, format_: str
) -> None:
    path = tmp_path / f"a.{format_}"
    encode_corpus(tok, iter(["the cat in the hat " * 60_000]), path)
    data = np.memmap(path, np.uint8, "r+")
    between_blocks = (len(data) - 4096) * 31 // 63 + 4096 + 100
    data[between_blocks // 2 * 2] ^= 1  # the low byte of an id
    data.flush()
    del data
    assert len(open_encoded(path)) == 1
    with pytest.raises(FormatError, match=rf"a\.{format_}: damaged: the checksum"):
        open_encoded(path, verify=True)
