"""A saved folder beside a model: it loads, or the error says what to do. Its hash is stable."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import prunedbpe

transformers = pytest.importorskip("transformers", reason="extra transformers is not installed")
pytestmark = pytest.mark.filterwarnings("default")

from prunedbpe.integrations.transformers import PrunedBPETokenizer  # noqa: E402

REGISTER = "import prunedbpe.integrations.transformers\n"
# What an environment without the package does.
WITHOUT_PACKAGE = """
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "prunedbpe":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Nothing())
"""


@pytest.fixture()
def folder(tmp_path):
    tok = prunedbpe.train(
        iter(["the cat sat on the mat", "a hat, a cat"] * 2), vocab_size=264, threshold=0
    )
    PrunedBPETokenizer.from_tokenizer(tok).save_pretrained(tmp_path / "saved")
    return tmp_path / "saved"


def run(code, folder, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "HF_MODULES_CACHE": str(folder.parent / "modules"),
            "HF_DATASETS_CACHE": str(folder.parent / "datasets"),
            **environment,
        },
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("model_type", ["gpt2", "llama"])
@pytest.mark.parametrize("trust", ["", ", trust_remote_code=True"], ids=["untrusted", "trusted"])
@pytest.mark.parametrize("package", ["registered", "installed", "missing"])
def test_beside_a_model(model_type, trust, package, folder):
    config = {"model_type": model_type, "vocab_size": 264}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    before = {"registered": REGISTER, "installed": "", "missing": WITHOUT_PACKAGE}[package]
    load = f"transformers.AutoTokenizer.from_pretrained({str(folder)!r}{trust})"
    code = f"{before}\nimport transformers\nprint(type({load}).__name__)"
    status, out, error = run(code, folder)
    if package == "registered" or (package == "installed" and trust):
        assert (status, out.strip()) == (0, "PrunedBPETokenizer"), error
        return
    assert status != 0
    last = error[error.rindex("Error: ") if "Error: " in error else error.rindex("Exception: ") :]
    assert "trust_remote_code=True" in last
    # For some model types transformers asks for trust before it looks at any file of ours.
    if trust or model_type == "gpt2":
        assert "pip install 'prunedbpe[transformers]'" in last


def test_stock_classes_refuse_the_folder(folder):
    with pytest.raises(Exception, match=r"needs the package prunedbpe: run pip install"):
        transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    with pytest.raises(Exception, match=r"needs the package prunedbpe: run pip install"):
        transformers.GPT2TokenizerFast.from_pretrained(folder)


def test_datasets_map_finds_its_cache_in_another_process(folder):
    pytest.importorskip("datasets", reason="datasets is not installed")
    data = folder.parent / "data.jsonl"
    texts = ["the cat", "a mat", "that hat"] * 20
    data.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    code = f"""{REGISTER}
import datasets, transformers
tokenizer = transformers.AutoTokenizer.from_pretrained({str(folder)!r})
made = []
def cut(texts):
    return tokenizer(texts, truncation=True, max_length=3)
def encode(rows):
    made.append(1)
    return cut(rows["text"])
data = datasets.load_dataset("json", data_files={str(data)!r}, split="train")
for workers in (None, 2):
    mapped = data.map(encode, batched=True, num_proc=workers)
    assert mapped["input_ids"][:3] == cut(data["text"][:3])["input_ids"]
    print(mapped._fingerprint, len(made))
    made.clear()
"""
    first, second = (run(code, folder, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert first[0] == second[0] == 0, first[2] + second[2]
    (one, encoded), (two, _) = map(str.split, first[1].splitlines())
    assert int(encoded) == 1
    # The second process encodes nothing.
    assert second[1].splitlines() == [f"{one} 0", f"{two} 0"]
