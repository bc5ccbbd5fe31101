"""An audit takes an object of transformers, and a name on the Hub."""

from __future__ import annotations

import pytest

import prunedbpe
from prunedbpe.analysis.auditing import audit
from prunedbpe.errors import FormatError
from prunedbpe.exchange.any_tokenizer import open_tokenizer
from prunedbpe.exchange.huggingface_export import write_huggingface

TEXTS = ["the cat in the hat", "that hat"]


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    path = tmp_path_factory.mktemp("stock") / "tokenizer.json"
    write_huggingface(prunedbpe.train(TEXTS, vocab_size=262, threshold=0), path)
    return path


def test_an_object_of_transformers(stock):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    fast = transformers.PreTrainedTokenizerFast(tokenizer_file=str(stock))
    found = audit(fast, iter(TEXTS))
    assert found.tokens == sum(map(len, fast(TEXTS)["input_ids"]))
    with pytest.raises(FormatError, match="int is not a tokenizer"):
        audit(3, iter(TEXTS))


def test_a_name_on_the_hub(stock, monkeypatch):
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    folders = {"some/one": str(stock.parent)}
    monkeypatch.setattr(hub, "snapshot_download", lambda name, **_: folders[name])
    assert open_tokenizer("some/one").encode("the hat")
    with pytest.raises(FormatError, match=r"nobody: no such file .* the Hugging Face Hub"):
        open_tokenizer("nobody")
    with pytest.raises(FormatError, match="no such file or folder"):
        open_tokenizer("./nothing.json")
