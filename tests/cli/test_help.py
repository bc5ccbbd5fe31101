"""Help: every verb is listed, explains itself, and help is quick because nothing is loaded."""

import subprocess
import sys
from pathlib import Path

import pytest

import prunedbpe.cli.main
from prunedbpe.cli.main import VERBS


def test_help_lists_every_verb(cli):
    out = cli("--help").out
    for verb, summary in VERBS.items():
        assert f"{verb} " in out and summary in out
    assert "130 interrupted" in out


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_shows_an_example_and_the_exit_codes(cli, verb):
    out = cli(verb, "--help").out
    assert f"prunedbpe {verb}" in out.partition("Arguments:")[0].partition("\n")[2]
    assert out.split("\n")[2].strip() == VERBS[verb]
    assert "Exit codes" in out and "--debug" in out


def test_every_verb_has_its_file():
    folder = Path(prunedbpe.cli.main.__file__).parent
    assert all((folder / f"{verb}.py").is_file() for verb in VERBS)


def test_version(cli):
    assert cli("--version").out == f"prunedbpe {prunedbpe.__version__}\n"


def test_no_words_show_the_help_as_a_usage_error(cli):
    ended = cli(code=2)
    assert not ended.out and "train" in ended.err


def test_help_loads_nothing_heavy():
    program = (
        "import sys; from prunedbpe.cli.main import run\n"
        "assert run(['--help']) == 0\n"
        "heavy = {'numpy', 'pyarrow', 'prunedbpe._core'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


def test_python_dash_m():
    command = [sys.executable, "-m", "prunedbpe", "--version"]
    assert b"prunedbpe" in subprocess.run(command, check=True, capture_output=True).stdout
