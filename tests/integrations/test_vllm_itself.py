"""The plugin in vLLM itself: registries, renderer, chat, detokenizer, structured output.

Needs vLLM, but neither a GPU nor its compiled code: `make test-vllm` installs its wheel and what
these modules import, without dependencies. No model runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings

import pytest
from integrations.conftest import train_on
from integrations.constrained import SCHEMA, check_answer, generate

import prunedbpe
from prunedbpe.exchange.formats import export

pytest.importorskip("vllm", reason="vLLM is not installed: make test-vllm")
pytestmark = pytest.mark.filterwarnings("default")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # those of torch and others, while they are imported
    from transformers import AutoTokenizer, LlamaConfig
    from vllm.config import ModelConfig, VllmConfig
    from vllm.plugins import load_general_plugins
    from vllm.renderers import renderer_from_config
    from vllm.renderers.params import ChatParams, TokenizeParams
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams
    from vllm.v1.engine import EngineCoreRequest
    from vllm.v1.engine.detokenizer import IncrementalDetokenizer
    from vllm.v1.structured_output.backend_guidance import GuidanceBackend
    from vllm.v1.structured_output.backend_types import StructuredOutputOptions
    from vllm.v1.structured_output.backend_xgrammar import XgrammarBackend

from prunedbpe.integrations.transformers import PrunedBPETokenizer  # noqa: E402

ROWS = 1024
"""Rows of the model's output layer: more than the vocabulary has."""

CHAT = [{"role": "user", "content": "hi 中文"}, {"role": "assistant", "content": "the cat"}]
CHAT_TEMPLATE = "{% for m in messages %}<_SOS_>{{ m.role }}\n{{ m.content }}<_EOS_>{% endfor %}"
RENDERED = "<_SOS_>user\nhi 中文<_EOS_><_SOS_>assistant\nthe cat<_EOS_>"


@pytest.fixture(scope="module", params=["rank", "shortest", "imported", "stock"])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def tok(kind, texts, tmp_path_factory):
    if kind == "imported":
        path = tmp_path_factory.mktemp("standard") / "tokenizer.json"
        export(train_on(texts, "gpt2"), "huggingface", path)
        return prunedbpe.import_tokenizer(path)
    return train_on(texts, "gpt2", "40%", "rank" if kind == "rank" else "shortest")


@pytest.fixture(scope="module")
def folder(kind, tok, tmp_path_factory):
    """A model's folder: ours, or for `stock` one that vLLM reads without the plugin."""
    folder = tmp_path_factory.mktemp(kind)
    if kind == "stock":
        export(tok, "huggingface", folder)
        hf = AutoTokenizer.from_pretrained(folder)
    else:
        hf = PrunedBPETokenizer.from_tokenizer(tok)
    hf.chat_template = CHAT_TEMPLATE
    hf.save_pretrained(folder)
    LlamaConfig(
        vocab_size=ROWS,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        eos_token_id=tok.special_tokens["<_EOS_>"],
        architectures=["LlamaForCausalLM"],
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=["auto", "hf", "prunedbpe"])
def renderer(request, folder):
    """The renderer of the engine, as vLLM makes it from a model's folder; see test_the_plugin."""
    load_general_plugins()
    model = ModelConfig(model=str(folder), tokenizer_mode=request.param, dtype="float32")
    return renderer_from_config(VllmConfig(model_config=model))


@pytest.mark.parametrize("mode", ["auto", "prunedbpe"])
def test_the_plugin(texts, tmp_path, mode):
    """vLLM calls the plugin through its entry point; without it, it refuses the folder."""
    tok = train_on(texts, "gpt2", "40%")
    PrunedBPETokenizer.from_tokenizer(tok).save_pretrained(tmp_path)
    program = (
        "import sys; from vllm.plugins import load_general_plugins; load_general_plugins()\n"
        "from vllm.tokenizers import get_tokenizer\n"
        f"print(get_tokenizer({str(tmp_path)!r}, tokenizer_mode={mode!r})('the cat').input_ids)"
    )

    def run(**environment):
        return subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )

    loaded = run()
    assert loaded.stdout.splitlines()[-1:] == [str(tok.encode("the cat"))], loaded.stderr
    refused = run(VLLM_PLUGINS="")
    assert refused.returncode != 0
    assert ("trust_remote_code" if mode == "auto" else "No tokenizer registered") in refused.stderr


def test_the_tokenizer(renderer, tok, texts):
    served = renderer.tokenizer
    assert served.max_token_id == tok.vocab_size - 1
    assert served.truncation_side == "left"
    expected = tok.encode_batch(texts[:1000], allowed_special="all")
    assert [served.encode(text, add_special_tokens=False) for text in texts[:1000]] == expected
    assert [served.decode(ids) for ids in expected] == texts[:1000]


def test_completions_and_chats(renderer, tok):
    limits = TokenizeParams(max_total_tokens=None)
    (prompt,) = renderer.render_cmpl([{"prompt": "the cat 中文"}], limits)
    assert prompt["prompt_token_ids"] == tok.encode("the cat 中文")
    _, (chat,) = renderer.render_chat([CHAT], ChatParams(), limits)
    assert chat["prompt_token_ids"] == tok.encode(RENDERED, allowed_special="all")


@pytest.mark.parametrize("skip_special_tokens", [True, False])
def test_incremental_detokenizing(renderer, tok, texts, skip_special_tokens):
    prompt = tok.encode("a prompt 中")
    end = tok.special_tokens["<_EOS_>"]
    for text in [*texts[:300], "🎉 é 中文 <_SEP_> naïve", "\ufffd"]:
        ids = [*tok.encode(text, allowed_special="all"), end]
        parameters = SamplingParams(
            skip_special_tokens=skip_special_tokens, spaces_between_special_tokens=False
        )
        request = EngineCoreRequest("0", prompt, None, parameters, None, 0.0, None, None, None)
        detokenizer = IncrementalDetokenizer.from_new_request(renderer.tokenizer, request)
        streamed = ""
        for token_id in ids:
            detokenizer.update([token_id], False)
            streamed += detokenizer.get_next_output_text(finished=False, delta=True)
        expected = renderer.tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
        if not expected.endswith("\ufffd"):  # vLLM holds such an end back: it may be unfinished
            assert streamed == expected
        assert expected.startswith(streamed)


def test_structured_output(renderer, tok, kind):
    config = renderer.config
    served = renderer.tokenizer
    parameters = SamplingParams(structured_outputs=StructuredOutputsParams(json=SCHEMA))
    parameters._validate_structured_outputs(
        config.model_config, config.structured_outputs_config, served
    )
    assert parameters.structured_outputs._backend == "xgrammar"  # the default
    config.structured_outputs_config.disable_any_whitespace = True
    backends = [XgrammarBackend]
    # vLLM gives llguidance stock classes only.
    assert GuidanceBackend.is_tokenizer_supported(served) == (kind == "stock")
    if kind == "stock":
        backends.append(GuidanceBackend)
    for backend_class in backends:
        backend = backend_class(config, tokenizer=served, vocab_size=ROWS)
        bitmask = backend.allocate_token_bitmask(1)
        for seed in range(3):
            grammar = backend.compile_grammar(StructuredOutputOptions.JSON, json.dumps(SCHEMA))

            def mask(grammar=grammar, bitmask=bitmask):
                grammar.fill_bitmask(bitmask, 0)
                return bitmask[0].numpy()

            def accept(token_id, grammar=grammar):
                return grammar.accept_tokens("0", [token_id])

            special = set(tok.special_tokens.values())
            ids = generate(mask, accept, served.eos_token_id, seed, special)
            assert grammar.is_terminated()
            check_answer(served.decode(ids))
