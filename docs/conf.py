"""Sphinx settings: Markdown pages, one theme, warnings are errors (see the Makefile)."""

from importlib.metadata import version as installed_version

project = "prunedbpe"
author = "the prunedbpe authors"
version = release = installed_version("prunedbpe")

extensions = [
    "myst_parser",  # pages in Markdown
    "sphinx.ext.autodoc",  # reference pages from docstrings
    "sphinx.ext.napoleon",  # Google sections in docstrings
]
exclude_patterns = ["_build", "results/study"]

html_theme = "furo"
html_title = "prunedbpe"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # otherwise dataclass attributes are described twice
