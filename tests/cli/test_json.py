"""What ``--json`` prints is what ``docs/reference/cli-output.schema.json`` says, for every verb."""

import json
from functools import cache
from pathlib import Path

import pytest

from prunedbpe.cli.main import VERBS

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/reference/cli-output.schema.json").read_text(encoding="utf-8"))


@cache
def validator(name):
    schema = {**SCHEMA, "$ref": f"#/$defs/{name}"}
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def check(name, value):
    validator(name).validate(value)


def test_every_verb_is_described(cli):
    assert set(VERBS) <= set(SCHEMA["$defs"])
    for verb in VERBS:
        assert "--json" in cli(verb, "--help").out, verb


CALLS = [
    "train {c} --vocab-size 400 -o {x}/a",
    "train {c} --vocab-size 400 --threshold auto -o {x}/a",
    "train {c} --vocab-size 400 --threshold auto --segmentation shortest --nfc -o {x}/a",
    "count {c} -o {x}/c.parquet",
    "count {c} --shard 0/2 --pretokenizer none -o {x}/c.parquet",
    "count {c} --estimate",
    "learn {x}/counts.parquet --merges 50 -o {x}/m.parquet",
    "prune {r} --vocab-size 400 -o {x}/a",
    "prune {r} --vocab-size 400 --for {c}/a.txt -o {x}/a",
    "sweep {r} --bound",
    "sweep {r} --vocab-size 400 --threshold 9999%",
    "encode {t} {c} -o {x}/ids.npy",
    "inspect {t}",
    "inspect {t} --rank 300",
    "inspect {t} --id 499",
    "inspect {t} --rank 300 --run {r}",
    "inspect {t} --internal",
    "inspect {t} --visible --run {r}",
    "inspect {t} --against {x}/standard --corpus {c}",
    "evaluate {t} {x}/standard --corpus c={c} --bound",
    "evaluate {t} --corpus c={c} --bootstrap 0",
    "audit {t} --corpus {c}/a.txt",
    "import {x}/standard.json -o {x}/a",
    "explore {t} --run {r} -o {x}/explorer.html",
    "explore {t} -o {x}/explorer.html",
    "export {t} transformers -o {x}/a",
    "export {x}/standard huggingface -o {x}/a.json",
    "doctor",
    "help",
    "help train",
    "help doctor",
]


@pytest.fixture(scope="module")
def made(corpus, trained, tmp_path_factory):
    """Inputs of the calls, in a folder."""
    from prunedbpe.cli.main import run

    folder = tmp_path_factory.mktemp("made")
    for words in (
        f"count {corpus} -q -o {folder}/counts.parquet",
        f"prune {trained}/run --vocab-size 500 --threshold 0 -q -o {folder}/standard",
        f"export {folder}/standard huggingface -q -o {folder}/standard.json",
    ):
        assert run(words.split()) == 0
    return folder


@pytest.mark.parametrize("call", CALLS)
def test_output_is_as_described(cli, call, corpus, trained, made, tmp_path):
    for path in made.iterdir():
        (tmp_path / path.name).symlink_to(path)
    places = {"c": corpus, "r": trained / "run", "t": trained / "tok", "x": tmp_path}
    ended = (
        cli(*call.format(**places).split(), "--json", "-q")
        if _has_quiet(call)
        else cli(*call.format(**places).split(), "--json")
    )
    check(call.split()[0], ended.json)


def _has_quiet(call):
    return call.split()[0] not in ("inspect", "doctor", "help")


def test_lines_of_decode(cli, corpus, trained):
    ids = cli("encode", trained / "tok", corpus / "a.txt", "--json").out_bytes
    lines = cli("decode", trained / "tok", "--json", stdin=ids).out.splitlines()
    assert len(lines) == 400
    for line in lines:
        check("decode", json.loads(line))


@pytest.mark.parametrize("words", [["train", "--json"], ["inspect", "none", "--json"]])
def test_errors(cli, words):
    ended = cli(*words, code=2 if words[0] == "train" else 1)
    check("error", ended.json)


def test_what_is_not_described_is_found():
    with pytest.raises(jsonschema.ValidationError):
        check("export", {"format": "paper", "output": "x", "files": [], "more": 1})
