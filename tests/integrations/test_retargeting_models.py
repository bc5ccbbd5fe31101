"""A model gets the vocabulary of a retargeted tokenizer: in memory, and as safetensors files."""

from __future__ import annotations

import json

import pytest
from cli_helpers import make_text

import prunedbpe
from prunedbpe.analysis.retargeting import IdMap
from prunedbpe.analysis.retargeting_models import retarget_checkpoint, retarget_model
from prunedbpe.errors import SettingsError

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
safetensors = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")

TEXTS = make_text(1, 300).splitlines()
DOMAIN = make_text(2, 200).splitlines()


@pytest.fixture(scope="module")
def tokenizers():
    merges = prunedbpe.learn(prunedbpe.count(iter([*TEXTS, *DOMAIN])), 400)
    base = prunedbpe.prune(merges, 420, threshold=0)
    return base, prunedbpe.retarget(merges, prunedbpe.count(iter(DOMAIN)), 400)


@pytest.fixture(scope="module")
def ids(tokenizers):
    return prunedbpe.id_map(*tokenizers)


def make_model(kind: str, base, dtype=torch.float32):
    torch.manual_seed(0)
    eos = int(base.special_tokens["<_EOS_>"])
    sizes = {"vocab_size": 424, "eos_token_id": eos, "bos_token_id": None, "pad_token_id": 1}
    if kind == "gpt2":  # tied
        config = transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=64, **sizes)
        model = transformers.GPT2LMHeadModel(config)
    elif kind == "phi":  # a bias in the output layer
        config = transformers.PhiConfig(
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=48,
            **sizes,
        )
        model = transformers.PhiForCausalLM(config)
    else:
        config = transformers.LlamaConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
            tie_word_embeddings=kind == "tied", **sizes,
        )  # fmt: skip
        model = transformers.LlamaForCausalLM(config)
    return model.to(dtype).eval()


def check(model, original, ids, rows=400):
    """Compare every row with what the map says."""
    for mine, old in (
        (model.get_input_embeddings().weight, original.get_input_embeddings().weight),
        (model.get_output_embeddings().weight, original.get_output_embeddings().weight),
    ):
        assert mine.shape == (rows, old.shape[1]) and mine.dtype == old.dtype
        for token_id, base_id in ids.kept.items():
            assert torch.equal(mine[token_id], old[base_id])
        for token_id, parts in ids.new.items():
            mean = old[parts].double().mean(0).to(old.dtype)
            assert torch.allclose(mine[token_id], mean, atol=1e-6, rtol=1e-2)
    tied = model.get_input_embeddings().weight is model.get_output_embeddings().weight
    assert tied == model.config.tie_word_embeddings
    assert model.config.vocab_size == rows
    with torch.no_grad():
        kept = torch.tensor([list(ids.kept)[:20]])
        old = torch.tensor([[ids.kept[int(i)] for i in kept[0]]])
        mine, before = model(kept).logits, original(old).logits
    assert torch.allclose(
        mine[..., list(ids.kept)], before[..., list(ids.kept.values())], atol=1e-4
    )


@pytest.mark.parametrize("kind", ["gpt2", "llama", "tied", "phi"])
def test_in_memory(kind, tokenizers, ids, tmp_path):
    base, new = tokenizers
    model = retarget_model(make_model(kind, base), ids)
    check(model, make_model(kind, base), ids)
    assert model.config.eos_token_id == new.special_tokens["<_EOS_>"]
    model.save_pretrained(tmp_path)
    loaded = type(model).from_pretrained(tmp_path).eval()
    check(loaded, make_model(kind, base), ids)
    prompt = torch.tensor([new.encode(DOMAIN[0])])
    written = loaded.generate(prompt, max_new_tokens=8, do_sample=False)
    assert int(written.max()) < new.vocab_size
    loss = loaded(prompt, labels=prompt).loss
    loss.backward()
    assert loaded.get_input_embeddings().weight.grad is not None


@pytest.mark.parametrize("kind", ["gpt2", "llama", "tied", "phi"])
@pytest.mark.parametrize("shard", ["5GB", "20KB"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_files(kind, shard, dtype, tokenizers, ids, tmp_path):
    base, new = tokenizers
    original = make_model(kind, base, dtype)
    original.save_pretrained(tmp_path / "old", max_shard_size=shard)
    (tmp_path / "old" / "tokenizer.json").write_text("{}")
    (tmp_path / "old" / "README.md").write_text("kept")
    changed = retarget_checkpoint(tmp_path / "old", ids, tmp_path / "new")
    assert len(changed) == {"gpt2": 1, "tied": 1, "llama": 2, "phi": 3}[kind]
    names = {path.name for path in (tmp_path / "new").iterdir()}
    assert "README.md" in names and "tokenizer.json" not in names
    model = type(original).from_pretrained(tmp_path / "new", dtype=dtype).eval()
    same = retarget_model(make_model(kind, base, dtype), ids)
    for name, value in same.state_dict().items():
        assert torch.equal(model.state_dict()[name], value), name
    assert model.config.eos_token_id == new.special_tokens["<_EOS_>"]
    assert (tmp_path / "new" / "model.safetensors.index.json").exists() == (shard == "20KB")
    if shard == "20KB":
        index = json.loads((tmp_path / "new" / "model.safetensors.index.json").read_text())
        size = sum(
            value.numel() * value.element_size()
            for path in (tmp_path / "new").glob("*.safetensors")
            for value in safetensors.load_file(path).values()
        )
        assert index["metadata"]["total_size"] == size


def test_any_module(ids):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tok_embeddings = torch.nn.Embedding(420, 8)
            self.output = torch.nn.Linear(8, 420, bias=False)
            self.output.weight = self.tok_embeddings.weight
            self.other = torch.nn.Linear(8, 420)

    model, before = Model(), Model()
    before.load_state_dict(model.state_dict())
    retarget_model(model, ids, pad_to_multiple_of=64)
    assert model.output.weight is model.tok_embeddings.weight
    assert model.output.weight.shape == (448, 8) and model.output.out_features == 448
    assert torch.equal(model.other.weight, before.other.weight)
    mean = before.output.weight.mean(0)
    assert torch.allclose(model.output.weight[447], mean, atol=1e-6)
    model = retarget_model(Model(), ids, tensors=["other.weight", "other.bias"])
    assert model.other.bias.shape == (400,) and model.tok_embeddings.weight.shape == (420, 8)
    for tensors in (["none"], []):
        with pytest.raises(SettingsError):
            retarget_model(Model(), ids, tensors=tensors)


def test_what_does_not_fit_is_refused(tokenizers, ids, tmp_path):
    small = IdMap(ids.kept, ids.new, [*ids.dropped, *range(420, 900)])
    with pytest.raises(SettingsError, match="424 rows"):
        retarget_model(make_model("llama", tokenizers[0]), small)
    make_model("llama", tokenizers[0]).save_pretrained(tmp_path)
    with pytest.raises(SettingsError, match="another folder"):
        retarget_checkpoint(tmp_path, ids, tmp_path)
    with pytest.raises(SettingsError, match="'lm_head'"):
        retarget_checkpoint(tmp_path, ids, tmp_path / "new", tensors=["lm_head"])
