"""Encoded corpora: token ids on disk, one writer and one reader for every format."""

from prunedbpe.encoded.columns import encode_column, encode_to_arrow
from prunedbpe.encoded.encoding import (
    EncodingOptions,
    encode_corpus,
    encoded_batches,
    tokenizer_digest,
)
from prunedbpe.encoded.file_formats import FILE_FORMATS, EncodedReport, FileFormat, format_by_ending
from prunedbpe.encoded.per_file import encode_files
from prunedbpe.encoded.reader import EncodedDocuments, open_encoded, read_documents

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
    "format_by_ending",
    "open_encoded",
    "read_documents",
    "tokenizer_digest",
]
