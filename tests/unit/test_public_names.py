"""The package: public names load on first use, and no function shares its name with a module."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from types import FunctionType, ModuleType

import pytest

import prunedbpe


def run(program: str) -> str:
    """Run a program in a fresh interpreter and return what it prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_public_name_has_a_home():
    assert sorted(prunedbpe._HOME_OF) == sorted(prunedbpe.__all__)
    for name in prunedbpe.__all__:
        assert getattr(prunedbpe, name) is not None
    assert dir(prunedbpe) == sorted([*prunedbpe.__all__, "__version__"])


def test_a_tokenizer_that_outlives_the_interpreter_is_no_message():
    program = """
import ctypes, prunedbpe
tok = prunedbpe.train(["the cat in the hat"], vocab_size=262, threshold=0)
tok.encode("a hat")
ctypes.pythonapi.Py_IncRef(ctypes.py_object(tok._encoder))  # as a cache of another library does
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="'countz'"):
        _ = prunedbpe.countz


def test_no_public_name_is_a_module():
    modules = {module.name for module in pkgutil.iter_modules(prunedbpe.__path__)}
    assert modules & set(prunedbpe.__all__) == set()
    assert isinstance(importlib.import_module("prunedbpe.counts"), ModuleType)
    assert isinstance(prunedbpe.count, FunctionType)
    assert type(prunedbpe) is ModuleType


def test_a_function_that_imports_the_package_can_be_shipped():
    """Engines such as Ray and Spark ship functions with cloudpickle."""
    cloudpickle = pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")

    def imports_inside(text):
        import prunedbpe

        return prunedbpe.pretokenize(text)

    def uses_the_global(text):
        return prunedbpe.pretokenize(text)

    for function in (imports_inside, uses_the_global):
        # A function of this module would travel by reference, not by value.
        function.__module__ = "__main__"
        shipped = cloudpickle.dumps(function)
        program = f"import pickle; print(pickle.loads({shipped!r})('a cat'))"
        assert run(program) == "['a', ' cat']"


def test_decoding_in_threads_while_numpy_is_first_imported(tmp_path):
    """A thread may find NumPy half imported by another one."""
    prunedbpe.train(["the cat in the hat"], vocab_size=262, threshold=0).save(tmp_path)
    program = f"""
import threading
import prunedbpe

tokenizer = prunedbpe.Tokenizer.load({str(tmp_path)!r})
ids = tokenizer.encode("the hat")
errors = []
imported = threading.Event()

def import_numpy():
    import numpy
    imported.set()

def decode():
    while not imported.is_set():
        try:
            assert tokenizer.decode(ids) == "the hat"
        except Exception as error:
            errors.append(repr(error))

threads = [threading.Thread(target=job) for job in [import_numpy] + 7 * [decode]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(errors[:1])
"""
    assert run(program) == "[]"
