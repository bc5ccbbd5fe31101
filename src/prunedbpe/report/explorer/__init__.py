"""The explorer: a tokenizer as one HTML page to type into, search and compare.

In: a tokenizer, optionally the merges or text that tell how often its tokens occur, optionally a
second tokenizer. Out: one file without network access. ``measuring`` collects what only the library
can compute, ``contents`` packs it, and the scripts in ``web`` do the rest in the browser: they cut
text, expand, and evaluate thresholds by the algebra of :mod:`prunedbpe.visibility.exposure`.
"""

from prunedbpe.report.explorer.contents import write_explorer
from prunedbpe.report.explorer.measuring import Measured, measure

__all__ = ["Measured", "measure", "write_explorer"]
