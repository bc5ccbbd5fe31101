"""Every format of encoded files, read without the library: as its page of the reference says."""

from __future__ import annotations

import json
import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from prunedbpe.encoded.file_formats import ENDINGS


def name_in(folder: Path, format_: str, stem: str = "out") -> Path:
    """The name of an output."""
    return folder / f"{stem}.{ENDINGS[format_]}"


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every file of a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def read(path: Path, column: str = "ids") -> list[list[int]]:
    """Read a file, or a folder, where another program could."""
    if path.suffix == ".jsonl":
        return [json.loads(line)[column] for line in path.read_text("utf-8").splitlines()]
    if path.suffix == ".ids":
        return [list(map(int, line.split())) for line in path.read_text("utf-8").splitlines()]
    if path.suffix == ".parquet":
        return pq.read_table(path)[column].to_pylist()
    if path.suffix == ".arrow":
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()[column].to_pylist()
    if path.suffix == ".idx":
        return read_megatron(path)
    if path.suffix == ".mds":
        return read_mds(path, "tokens" if column == "ids" else column)
    ids = np.load(path) if path.suffix == ".npy" else np.fromfile(path, "<u2")
    offsets = np.load(f"{path}.offsets.npy").tolist()
    return [ids[begin:end].tolist() for begin, end in pairwise(offsets)]


def read_megatron(path: Path) -> list[list[int]]:
    """Read ``NAME.bin`` by the index ``NAME.idx``."""
    index, data = path.read_bytes(), path.with_suffix(".bin").read_bytes()
    magic, version, code, sequences, documents = struct.unpack_from("<9sQBQQ", index)
    assert (magic, version) == (b"MMIDIDX\x00\x00", 1)
    letter = {4: "i", 5: "q", 8: "H"}[code]
    lengths = struct.unpack_from(f"<{sequences}i", index, 34)
    pointers = struct.unpack_from(f"<{sequences}q", index, 34 + 4 * sequences)
    ends = struct.unpack_from(f"<{documents}q", index, 34 + 12 * sequences)
    assert len(index) == 34 + 12 * sequences + 8 * documents
    assert ends == tuple(range(sequences + 1))
    assert len(data) == sum(lengths) * struct.calcsize(letter)
    return [
        list(struct.unpack_from(f"<{length}{letter}", data, pointer))
        for length, pointer in zip(lengths, pointers, strict=True)
    ]


def read_mds(folder: Path, column: str) -> list[list[int]]:
    """Read the shards that ``index.json`` lists; one column of arrays of one dimension."""
    index = json.loads((folder / "index.json").read_text())
    assert index["version"] == 2
    found = []
    for shard in index["shards"]:
        data = (folder / shard["raw_data"]["basename"]).read_bytes()
        assert shard["column_names"] == [column] and len(data) == shard["raw_data"]["bytes"]
        (count,) = struct.unpack_from("<I", data)
        assert count == shard["samples"]
        offsets = struct.unpack_from(f"<{count + 1}I", data, 4)
        config = json.loads(data[8 + 4 * count : offsets[0]])
        assert config.items() <= shard.items()
        letter = {"uint16": "H", "uint32": "I", "int32": "i", "int64": "q"}[
            config["column_encodings"][0].removeprefix("ndarray:")
        ]
        for begin, end in pairwise(offsets):
            size, kind = struct.unpack_from("<IB", data, begin)
            assert begin + 4 + size == end and kind in (4, 5, 6)
            (length,) = struct.unpack_from("<" + "BHI"[kind - 4], data, begin + 5)
            start = begin + 5 + (1, 2, 4)[kind - 4]
            found.append(list(struct.unpack_from(f"<{length}{letter}", data, start)))
            assert start + length * struct.calcsize(letter) == end
    return found
