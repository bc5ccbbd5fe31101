"""Corpus: paths, or any iterable of texts, to batches of documents, in bounded memory.

In: files, folders, globs, URLs, ``-`` for standard input, Python strings, or Arrow data. Out:
:class:`DocumentBatch` objects, in an order that depends only on the inputs. What a document is:

============================= =================================================================
``.txt .log .html .htm``      each line
``.jsonl .ndjson``            each line is a JSON object; the document is its text field
``.parquet``                  each row; the document is its text column
any other text file           the whole file
``.gz .bz2 .xz .zst`` suffix  unpacked while reading: ``a.jsonl.zst`` is read as ``.jsonl``
``-``                         standard input: each line
============================= =================================================================

Documents without text (empty lines, empty files, nulls) are dropped, and so is a byte order mark at
the start of a file. A document that is not UTF-8 is skipped by itself and reported with file and
place; with ``strict`` it is an error. A UTF-16 file is skipped as a whole.
"""

from prunedbpe.corpus.corpus import Corpus, CorpusInput, open_corpus
from prunedbpe.corpus.documents import CorpusReport, DocumentBatch
from prunedbpe.corpus.files import Shard

__all__ = ["Corpus", "CorpusInput", "CorpusReport", "DocumentBatch", "Shard", "open_corpus"]
