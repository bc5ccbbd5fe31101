"""Files that trainers read, with their own readers: Megatron-LM and MosaicML Streaming."""

from __future__ import annotations

import importlib
import json
import random
import warnings

import numpy as np
import pytest

import prunedbpe
from prunedbpe.encoded import encode_corpus, open_encoded, read_documents

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries leave files open

TEXTS = ["the cat sat", "中文 on the mat", "", None, "that hat", "a" * 700, "the the " * 40_000]


def module(name: str, package: str):
    """Import a package of another project, or skip: it may be missing, or not load here."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"{package} cannot be imported: {error}")


@pytest.fixture(scope="module")
def tok():
    return prunedbpe.train(iter(t[:99] for t in TEXTS * 3 if t), vocab_size=275, threshold=0)


@pytest.fixture(scope="module")
def texts():
    """Rows as above, and documents whose lengths need one, two and four bytes in MDS."""
    rng = random.Random(1)
    lengths = [rng.randrange(1, 300) for _ in range(300)]
    return [*TEXTS, *("".join(rng.choices("the cat é中", k=length)) for length in lengths)]


@pytest.fixture(scope="module")
def expected(tok, texts):
    return [tok.encode(text or "") for text in texts]


@pytest.mark.parametrize("dtype", [None, "uint16", "int32", "int64"])
@pytest.mark.parametrize("mmap", [True, False])
def test_megatron(tok, texts, expected, dtype, mmap, tmp_path):
    indexed = module("megatron.core.datasets.indexed_dataset", "megatron-core")
    encode_corpus(tok, iter(texts), tmp_path / "train", "megatron", dtype=dtype, missing="empty")
    dataset = indexed.IndexedDataset(str(tmp_path / "train"), mmap=mmap)
    assert [dataset[row].tolist() for row in range(len(dataset))] == expected
    assert np.dtype(dataset.index.dtype) == (dtype or "uint16")
    assert dataset.document_indices.tolist() == list(range(len(texts) + 1))
    some = dataset[2:6]
    assert [ids.tolist() for ids in some] == expected[2:6]
    assert dataset.get(0, offset=1, length=2).tolist() == expected[0][1:3]


def test_files_of_megatron(tok, expected, tmp_path):
    """Files that Megatron wrote, with several sequences to a document."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    indexed = module("megatron.core.datasets.indexed_dataset", "megatron-core")
    builder = indexed.IndexedDatasetBuilder(str(tmp_path / "a.bin"), dtype=np.uint16)
    documents = [ids for ids in expected[:9] if ids]
    for ids in documents:
        builder.add_document(torch.tensor(ids), [1, len(ids) - 1])
    builder.finalize(str(tmp_path / "a.idx"))
    builder.data_file.close()
    for name in ("a.idx", "a.bin"):
        assert [ids.tolist() for ids in open_encoded(tmp_path / name)] == documents
        assert [list(ids) for _, ids in read_documents(tmp_path / name)] == documents


@pytest.fixture
def streaming():
    package = module("streaming", "mosaicml-streaming")
    package.base.util.clean_stale_shared_memory()
    return package


@pytest.mark.parametrize("dtype", [None, "uint16", "uint32", "int64"])
@pytest.mark.parametrize("size_limit", [1 << 26, 5_000])
def test_mds(tok, texts, expected, streaming, dtype, size_limit, tmp_path, monkeypatch):
    monkeypatch.setattr("prunedbpe.encoded.mds_files._SIZE_LIMIT", size_limit)
    folder = tmp_path / "out"
    encode_corpus(tok, iter(texts), folder, "mds", dtype=dtype, missing="empty")
    dataset = streaming.StreamingDataset(local=str(folder), batch_size=1, shuffle=False)
    found = [dataset[row]["tokens"] for row in range(len(dataset))]
    assert [ids.tolist() for ids in found] == expected
    assert {str(ids.dtype) for ids in found} == {dtype or "int32"}
    assert [sample["tokens"].tolist() for sample in dataset] == expected
    assert (len(list(folder.glob("*.mds"))) > 5) == (size_limit < 10_000)


@pytest.mark.parametrize("size_limit", [1 << 26, 400_000])
def test_the_bytes_of_mds(tok, texts, streaming, size_limit, tmp_path, monkeypatch):
    """Shards equal those of the library's writer, which takes no empty array."""
    monkeypatch.setattr("prunedbpe.encoded.mds_files._SIZE_LIMIT", size_limit)
    rows = [text for text in texts if text]
    encode_corpus(tok, iter(rows * 2), tmp_path / "ours", "mds", column="input_ids")
    with streaming.MDSWriter(
        columns={"input_ids": "ndarray:int32"}, out=str(tmp_path / "theirs"), size_limit=size_limit
    ) as writer:
        for text in rows * 2:
            writer.write({"input_ids": tok.encode_to_numpy(text).astype(np.int32)})
    index = {}
    for folder in ("ours", "theirs"):
        index[folder] = json.loads((tmp_path / folder / "index.json").read_text())
    assert index["ours"].pop("prunedbpe")["documents"] == len(rows) * 2
    assert index["ours"] == index["theirs"]
    for shard in (tmp_path / "theirs").glob("*.mds"):
        assert (tmp_path / "ours" / shard.name).read_bytes() == shard.read_bytes()
    found = [list(ids) for _, ids in read_documents(tmp_path / "theirs", column="input_ids")]
    assert found == tok.encode_batch(rows * 2)
