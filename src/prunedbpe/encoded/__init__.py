"""Encoded corpora: token ids on disk, one writer and one reader for every format."""

from prunedbpe.encoded.columns import encode_column, encode_to_arrow
from prunedbpe.encoded.encoding import (
    EncodingOptions,
    encode_corpus,
    encoded_batches,
    tokenizer_digest,
)
from prunedbpe.encoded.per_file import encode_files
from prunedbpe.encoded.reader import EncodedDocuments, open_encoded, read_documents
from prunedbpe.encoded.writer import FILE_FORMATS, EncodedReport, FileFormat

__all__ = [
    "FILE_FORMATS",
    "EncodedDocuments",
    "EncodedReport",
    "EncodingOptions",
    "FileFormat",
    "encode_column",
    "encode_corpus",
    "encode_files",
    "encode_to_arrow",
    "encoded_batches",
    "open_encoded",
    "read_documents",
    "tokenizer_digest",
]
