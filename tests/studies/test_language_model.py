"""The language-model study, tiny: the same seed gives the same figures."""

from __future__ import annotations

import json
import math
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the study needs torch (extra study)")

from prunedbpe.report.charts import signed  # noqa: E402
from studies.language_model.measures import HeldOut  # noqa: E402
from studies.language_model.model import Transformer, attend, row_flops  # noqa: E402
from studies.language_model.results import RunName, read_result  # noqa: E402
from studies.language_model.streams import make_stream  # noqa: E402
from studies.language_model.study import Study, open_study  # noqa: E402
from studies.language_model.summary import comparisons  # noqa: E402

REPOSITORY = Path(__file__).parents[2]
QUIET = lambda line: None  # noqa: E731
FIFTY = [b"%d" % i for i in range(50)]


@pytest.fixture(scope="module")
def study(corpus, config, tmp_path_factory) -> Study:
    home = tmp_path_factory.mktemp("study")
    return open_study(str(config), [str(corpus)], home / "results", home / "cache")


def without_time(figures):
    return {name: value for name, value in figures.items() if name != "speed"}


@pytest.mark.parametrize("context", ["tokens", "bytes"])
def test_repeated_run_gives_the_same_figures(study, context):
    run = RunName(400, context, "chosen-shortest", 1)
    assert without_time(study.make(run, QUIET)) == without_time(study.make(run, QUIET))
    assert not study.is_missing(run)


def test_interrupted_run_gives_the_same_figures(study, tmp_path):
    run = RunName(400, "tokens", "threshold-40", 1)
    whole = study.prepare(run)
    whole.finish(tmp_path / "a.pt", QUIET)
    stopped = study.prepare(run)
    stopped.finish(tmp_path / "b.pt", QUIET, stop_after=whole.steps // 2)
    assert stopped.found != whole.found
    resumed = study.prepare(run)
    resumed.finish(tmp_path / "b.pt", QUIET)
    assert resumed.steps == whole.steps
    assert without_time(resumed.found) == without_time(whole.found)


def test_other_seeds_and_other_weights_differ(study):
    runs = [("standard", 1), ("standard", 2), ("null", 1)]
    found = [
        study.make(RunName(400, "tokens", arm, seed), QUIET)["equal_text"] for arm, seed in runs
    ]
    bits = [figures["bits_per_byte"]["all"] for figures in found]
    assert len(set(bits)) == 3
    assert found[0]["tokens"] == found[2]["tokens"]  # the same text


def test_model_learns(study):
    curve = study.make(RunName(400, "tokens", "standard", 1), QUIET)["curve"]
    assert len(curve) == 3
    assert curve[-1]["bits_per_byte"] < curve[0]["bits_per_byte"] - 0.05


@pytest.mark.parametrize("context", ["tokens", "bytes"])
def test_budgets(study, context):
    courses = {
        arm: study.course(RunName(400, context, arm, 1))
        for arm in ("standard", "chosen-shortest", "standard-plus-2000")
    }
    read = {course.bytes_after(course.marks["equal_text"]) for course in courses.values()}
    assert len(read) == 1  # the same documents, to the byte
    standard = courses["standard"]
    assert standard.marks["equal_text"] == standard.marks["equal_compute"]
    budget = standard.flops[-1]
    for course in courses.values():
        row = course.marks["equal_compute"] - 1
        assert course.flops[row - 1] < budget <= course.flops[row]


def test_only_what_was_made_with_the_same_counts(study):
    run = RunName(400, "tokens", "auto-rank", 1)
    assert study.is_missing(run)
    study.make(run, QUIET)
    assert run not in study.missing()
    path = study.results / run.file
    path.write_text(path.read_text().replace('"seed": 1', '"seed": 7'))
    assert study.is_missing(run)


def test_uniform_model_costs_the_logarithm_of_the_vocabulary(study, texts):
    tokenizer = study.tokenizers[400]["standard"]
    stream = make_stream(tokenizer, texts.held_out)
    model = Transformer(stream.tokens, 16, 1, 2, seed=0)  # as it begins
    held_out = HeldOut(stream, texts.held_out, "tokens", 32, 8)
    nats = held_out.nats(model, torch.device("cpu"))
    tokens = np.diff(stream.starts) - 1  # without separators
    np.testing.assert_allclose(nats, tokens * math.log(stream.vocab_size), rtol=1e-5)
    size = sum(len(document.data) for document in texts.held_out)
    expected = tokens.sum() * math.log2(stream.vocab_size) / size
    assert held_out.bits_per_byte(nats)["all"] == pytest.approx(expected, abs=2e-6)


def test_models_with_different_tokenizers_begin_alike(study):
    few, more = (study.prepare(RunName(400, "tokens", arm, 1)) for arm in ("standard", "auto-rank"))
    for own, other in zip(few.model.matrices(), more.model.matrices(), strict=True):
        assert torch.equal(own, other)
    places = {token: i for i, token in enumerate(more.course.stream.tokens)}
    shared = [(i, places[t]) for i, t in enumerate(few.course.stream.tokens) if t in places]
    assert 256 < len(shared) < len(places)
    own, other = (list(ids) for ids in zip(*shared, strict=True))
    assert torch.equal(few.model.embedding.weight[own], more.model.embedding.weight[other])
    numbers = few.model.embedding.weight
    assert numbers.std().item() == pytest.approx(0.02, rel=0.02)
    assert abs(numbers.mean().item()) < 0.001


def test_model_does_not_see_what_it_predicts():
    model = Transformer(FIFTY, 16, 2, 2, seed=0)
    ids = torch.randint(0, 50, (1, 20))
    changed = ids.clone()
    changed[0, 12:] = 7
    torch.testing.assert_close(model(ids)[0, :12], model(changed)[0, :12])


def test_attention_is_that_of_torch():
    query, key, value = torch.randn(3, 2, 4, 20, 8)
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    torch.testing.assert_close(attend(query, key, value), expected)


def test_flops_are_six_for_each_weight():
    model = Transformer(FIFTY, 16, 2, 2, seed=0)
    weights = sum(matrix.numel() for matrix in model.matrices()) + model.prediction.weight.numel()
    attention = 6 * 2 * 16 * 10**2
    assert row_flops(np.array([10]), 16, 2, 50)[0] == 6 * 10 * weights + attention


def mean_difference_of_curves(found) -> float:
    """At the last point, which is the equal text."""
    pairs = zip(found.runs, found.reference_runs, strict=True)
    ends = [[run["curve"][-1]["bits_per_byte"] for run in pair] for pair in pairs]
    return sum(own - other for own, other in ends) / len(ends)


def test_two_tokenizers_from_the_command_line(corpus, config, tmp_path, study):
    tokenizers = study.tokenizers[400]
    for name in ("standard", "chosen-shortest"):
        tokenizers[name].save(tmp_path / name)
    command = [sys.executable, "-m", "studies.language_model", "--corpus", str(corpus)]
    command += ["--config", str(config), "--workers", "2", "--cache", str(tmp_path / "cache")]
    command += ["--tokenizer", str(tmp_path / "chosen-shortest")]
    command += ["--against", str(tmp_path / "standard"), "--results", str(tmp_path / "results")]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results" / "tiny"
    *_, found = comparisons(folder, 400, "tokens")
    assert found.seeds == [1, 2]
    assert f"| chosen-shortest | 2 | {sum(found.bits()) / 2:.4f} |" in done.stdout
    # The study gives the same figures for the same tokenizers and seed.
    run = study.make(RunName(400, "tokens", "chosen-shortest", 1), QUIET)
    assert run["equal_text"] == found.runs[0]["equal_text"]
    opinion = read_result(folder, "400-kneser-ney/tokenizer.json")
    assert 0.5 < opinion["bits_per_byte"] < 4
    assert json.loads((folder / "text.json").read_text())["arms"]["against"] == "standard"
    # The page and its picture show them.
    script = runpy.run_path(str(REPOSITORY / "docs/results/language_model.py"))
    assert f"| {found.difference():+.4f} |" in script["with_figures"]("", folder)
    script["plot"](folder, tmp_path)
    picture = (tmp_path / "language-model-400-tokens.svg").read_text(encoding="utf-8")
    assert f"chosen-shortest {signed(1000 * found.difference(), 1)}" in picture
    assert f"100 {signed(1000 * mean_difference_of_curves(found))}" in picture
