"""Sphinx settings: Markdown pages, one theme, warnings are errors (see the Makefile)."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from sphinx.util.inspect import TypeAliasForwardRef

sys.path.insert(0, str(Path(__file__).parent))  # for the extension gallery.py

project = "prunedbpe"
author = "the prunedbpe authors"
version = release = installed_version("prunedbpe")

extensions = [
    "myst_parser",  # pages in Markdown
    "sphinx.ext.autodoc",  # reference pages from docstrings
    "sphinx.ext.napoleon",  # Google sections in docstrings
    "gallery",  # live examples, made when the site is built
]
exclude_patterns = ["_build", "results/study"]

html_theme = "furo"
html_title = "prunedbpe"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).with_name("scorer.js"))

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
ALIASES = """
    BoolArray ByteArray CorpusInput FloatArray Int64Array Missing PathInput
    ProgressLike Segmentation SourceKind SpecialSet Surrogates ThresholdLike TokenIds UInt32Array
"""
autodoc_type_aliases = {name: name for name in ALIASES.split()}  # the name, not what it stands for
TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # within other types as well
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80  # longer ones: one parameter per line
add_module_names = False
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # otherwise dataclass attributes are described twice


def setup(app: Any) -> None:
    """Connect to Sphinx."""
    app.connect("autodoc-process-signature", shorten)


def shorten(*event: Any) -> tuple[str | None, str | None]:
    """Replace a default that a factory makes: it is not Python, and Sphinx would keep one line."""
    *_, signature, result = event
    return signature and signature.replace("<factory>", "..."), result
