"""The package: its public names are loaded when asked for, functions before modules."""

import subprocess
import sys

import pytest

import prunedbpe


def test_every_public_name_has_a_home():
    assert sorted(prunedbpe._HOME_OF) == sorted(prunedbpe.__all__)
    for name in prunedbpe.__all__:
        assert getattr(prunedbpe, name) is not None
    assert set(prunedbpe.__all__) <= set(dir(prunedbpe))


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="'counts'"):
        _ = prunedbpe.counts


def test_functions_go_before_modules_of_their_name_in_any_order():
    program = (
        "import prunedbpe.train, prunedbpe.count.table, prunedbpe.learn, prunedbpe.pretokenize\n"
        "import prunedbpe\n"
        "from prunedbpe import count, errors, learn\n"
        "assert errors.PrunedBPEError is prunedbpe.PrunedBPEError\n"
        "for f in (prunedbpe.train, count, learn, prunedbpe.count, prunedbpe.pretokenize):\n"
        "    assert type(f).__name__ == 'function', f\n"
        "from prunedbpe import *\n"
        "assert type(train).__name__ == 'function'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_importing_the_package_loads_nothing_heavy():
    program = "import sys, prunedbpe; assert not {'numpy', 'prunedbpe._core'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
