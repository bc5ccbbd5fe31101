"""Corpus: paths, or any iterable of texts, to batches of documents, in bounded memory.

What goes in: files, folders, ``-`` for standard input, or Python strings. What comes out:
:class:`DocumentBatch` objects, in an order that depends on the inputs alone. How a file is read:

=============================== =======================================================
``.txt .log .html .htm``        every line is a document
``.jsonl .ndjson``              every line is a JSON object; its text field is a document
``.parquet``                    every row is a document, from the text column
any other text file             one document
``.gz .bz2 .xz .zst`` behind it unpacked on the way: ``a.jsonl.zst`` is read as ``.jsonl``
``-``                           standard input: every line is a document
=============================== =======================================================

A document without text (an empty line, an empty file, a null) is left out. A byte order mark at the
start of a file is dropped. A file that is not UTF-8 gives no document at all: it is named in the
report, or is an error where ``strict`` is asked for.
"""

from prunedbpe.corpus.batches import DocumentBatch
from prunedbpe.corpus.corpus import Corpus
from prunedbpe.corpus.opening import CorpusInput, open_corpus
from prunedbpe.corpus.report import CorpusReport
from prunedbpe.corpus.shards import Shard

__all__ = ["Corpus", "CorpusInput", "CorpusReport", "DocumentBatch", "Shard", "open_corpus"]
